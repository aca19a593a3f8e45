#include "shim/launch.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <string_view>
#include <vector>

#include "shim/become.h"
#include "shim/format/fd.h"

namespace perdure {
namespace {

// The job dies first when memory runs out, before its shim and its worker.
constexpr std::string_view oom_score_adj = "500";

enum class Stage { prepare, working_directory, cgroup, user, exec };

// Everything that the child needs, made before the fork: after it, nothing may be allocated.
struct Plan {
    std::vector<std::string> env_texts;
    std::vector<std::string> candidates;  // paths to try, in this order
    std::vector<char*> argv;
    std::vector<char*> env;
    std::string cwd;
    std::vector<std::string> cgroup_procs;
    const Credentials* become = nullptr;  // null: our own
    int output = -1;
};

// Written by the child in the parent's memory: vfork() lets them share it until the exec.
struct Report {
    volatile int error = 0;
    volatile Stage stage = Stage::prepare;
};

std::string_view value_of(const Order& order, std::string_view name) {
    for (const auto& [key, value] : order.env)
        if (key == name) return value;
    return {};
}

std::vector<std::string> candidates_of(const Order& order) {
    const auto& program = order.argv.front();
    if (program.find('/') != std::string::npos) return {program};
    std::vector<std::string> candidates;
    auto path = value_of(order, "PATH");
    while (!path.empty()) {
        const auto colon = path.find(':');
        const auto folder = path.substr(0, colon);
        if (!folder.empty()) candidates.push_back(std::string(folder) + "/" + program);
        path = colon == std::string_view::npos ? std::string_view{} : path.substr(colon + 1);
    }
    return candidates;
}

Plan make_plan(const Order& order, const std::string& own_folder, int output) {
    Plan plan;
    plan.output = output;
    plan.cwd = order.cwd.empty() ? own_folder : order.cwd;
    plan.become = order.become ? &*order.become : nullptr;
    if (!order.cgroup.empty()) plan.cgroup_procs.push_back(order.cgroup + "/cgroup.procs");
    for (const auto& group : order.joins) plan.cgroup_procs.push_back(group + "/cgroup.procs");
    plan.candidates = candidates_of(order);
    for (const auto& [name, value] : order.env) plan.env_texts.push_back(name + "=" + value);
    for (auto& text : plan.env_texts) plan.env.push_back(text.data());
    for (const auto& arg : order.argv) plan.argv.push_back(const_cast<char*>(arg.c_str()));
    plan.env.push_back(nullptr);
    plan.argv.push_back(nullptr);
    return plan;
}

bool write_text(const char* path, std::string_view text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool written = ::write(fd, text.data(), text.size()) >= 0;
    ::close(fd);
    return written;
}

[[noreturn]] void give_up(Report& report, Stage stage, int error) {
    report.stage = stage;
    report.error = error;
    ::_exit(127);
}

// Like execvp, but a file that is no program is not given to a shell.
[[noreturn]] void exec_first(const Plan& plan, Report& report) {
    int worst = ENOENT;
    for (const auto& path : plan.candidates) {
        ::execve(path.c_str(), plan.argv.data(), plan.env.data());
        if (errno == ENOENT || errno == ENOTDIR) continue;
        worst = errno;
        if (errno != EACCES) break;
    }
    give_up(report, Stage::exec, worst);
}

[[noreturn]] void become_the_job(const Plan& plan, Report& report) {
    ::setsid();
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || ::dup2(nothing, 0) < 0 || ::dup2(plan.output, 1) < 0 ||
        ::dup2(plan.output, 2) < 0)
        give_up(report, Stage::prepare, errno);
    write_text("/proc/self/oom_score_adj", oom_score_adj);
    for (const auto& path : plan.cgroup_procs)
        if (!write_text(path.c_str(), "0")) give_up(report, Stage::cgroup, errno);
    // What follows is done with the rights of the job's user.
    if (plan.become)
        if (const int failed = become(*plan.become)) give_up(report, Stage::user, failed);
    if (::chdir(plan.cwd.c_str()) != 0) give_up(report, Stage::working_directory, errno);
    // At the exec, not before: until then the attempt's lock says that somebody is on the way.
    if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) ::close_range(3, ~0U, 0);
    ::umask(022);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    exec_first(plan, report);
}

pid_t fork_and_become(const Plan& plan, Report& report) {
    const pid_t pid = ::vfork();
    if (pid == 0) become_the_job(plan, report);
    // Who changes his user makes the memory that he shares with us unreadable, ours included.
    if (plan.become) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return pid;
}

bool is_shortage(int error) {
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

std::string why_exec_failed(const Plan& plan, const std::string& program, int error) {
    const auto named = "`" + program + "` ";
    if (error == ENOENT && program.find('/') == std::string::npos)
        return named + "was not found in PATH";
    if (error == ENOENT) return named + "was not found, or the program that its first line names";
    struct stat about {};
    for (const auto& path : plan.candidates)
        if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
            return named + "is a directory";
    if (error == EACCES) return named + "is not executable for this user";
    if (error == ENOEXEC) return named + "is neither a program nor a script that begins with #!";
    return named + "cannot be executed: " + ::strerror(error);
}

LaunchFailure failure_of(const Plan& plan, const Order& order, Stage stage, int error) {
    LaunchFailure failure;
    if (is_shortage(error)) failure.cause = Cause::no_resources;
    switch (stage) {
        case Stage::working_directory:
            failure.sentence =
                "the working directory `" + plan.cwd + "` cannot be entered: " + ::strerror(error);
            break;
        case Stage::exec:
            failure.sentence = why_exec_failed(plan, order.argv.front(), error);
            break;
        case Stage::user:
            failure.cause = Cause::no_resources;
            failure.sentence = "the process cannot become uid " +
                               std::to_string(order.become->uid) + ": " + ::strerror(error);
            break;
        case Stage::prepare:
        case Stage::cgroup:
            failure.cause = Cause::no_resources;
            failure.sentence = std::string("the process cannot be set up: ") + ::strerror(error);
            break;
    }
    return failure;
}

}  // namespace

Launch launch(const Order& order, const std::string& own_folder, int output) {
    const auto plan = make_plan(order, own_folder, output);
    Report report;
    const pid_t pid = fork_and_become(plan, report);
    if (pid < 0) return {0, failure_of(plan, order, Stage::prepare, errno)};
    if (report.error == 0) return {pid, std::nullopt};
    ::waitpid(pid, nullptr, 0);
    return {0, failure_of(plan, order, report.stage, report.error)};
}

}  // namespace perdure
