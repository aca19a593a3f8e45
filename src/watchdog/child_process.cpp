#include "watchdog/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "watchdog/service_manager.h"

namespace perdure {
namespace {

constexpr int channel_in_child = 3;
constexpr int exit_code_of_no_exec = 127;

// Everything the child needs, made before the fork: after it only plain system calls are allowed.
struct Prepared {
    const char* program = nullptr;
    std::vector<char*> words;
    std::vector<std::string> variables;
    std::vector<char*> environment;
    pid_t parent = ::getpid();
};

bool is_ours(std::string_view variable) {
    const auto name = variable.substr(0, variable.find('='));
    // What a service manager wants to be told is the watchdog's to tell.
    return name == watchdog_variable || name == died_variable || name == alive_variable ||
           name == notify_variable || name == watchdog_time_variable ||
           name == watchdog_pid_variable;
}

Prepared prepare(const std::string& program, const std::vector<std::string>& words,
                 const ChildOrders& orders) {
    Prepared made;
    made.program = program.c_str();
    for (const auto& word : words) made.words.push_back(const_cast<char*>(word.c_str()));
    made.words.push_back(nullptr);
    for (char** variable = environ; *variable; ++variable)
        if (!is_ours(*variable)) made.variables.emplace_back(*variable);
    made.variables.push_back(fmt::format("{}={}", watchdog_variable, channel_in_child));
    if (orders.died_at)
        made.variables.push_back(fmt::format("{}={}", died_variable, orders.died_at->us));
    if (orders.alive_every)
        made.variables.push_back(fmt::format("{}={}", alive_variable, orders.alive_every->us));
    for (auto& variable : made.variables) made.environment.push_back(variable.data());
    made.environment.push_back(nullptr);
    return made;
}

void unblock_signals() {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const Prepared& prepared, int channel) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before the line above: then nobody will tell us.
    if (::getppid() != prepared.parent) ::_exit(exit_code_of_no_exec);
    ::setsid();
    unblock_signals();
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    // dup2 onto itself would leave close-on-exec set.
    if (channel == channel_in_child)
        ::fcntl(channel, F_SETFD, 0);
    else
        ::dup2(channel, channel_in_child);
    ::execve(prepared.program, prepared.words.data(), prepared.environment.data());
    ::_exit(exit_code_of_no_exec);
}

}  // namespace

Result<ChildProcess> start_child(const std::string& program, const std::vector<std::string>& words,
                                 const ChildOrders& orders) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error(Errc::unavailable, fmt::format("socketpair: {}", std::strerror(errno)));
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const auto prepared = prepare(program, words, orders);
    const auto pid = ::fork();
    if (pid == 0) become(prepared, ends[1]);
    const int why = errno;
    ::close(ends[1]);
    if (pid < 0) {
        ::close(ends[0]);
        return error(Errc::unavailable, fmt::format("fork: {}", std::strerror(why)));
    }
    return ChildProcess{pid, ends[0]};
}

}  // namespace perdure
