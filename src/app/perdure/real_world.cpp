#include "app/perdure/real_world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "platform/entropy.h"
#include "platform/system_time.h"
#include "platform/trusted_path.h"

namespace perdure {
namespace {

volatile sig_atomic_t interrupts = 0;

void note_interrupt(int) { interrupts = interrupts + 1; }

constexpr std::size_t file_max = std::size_t{64} << 20;

Result<std::string> read_all(int descriptor, const std::string& path) {
    std::string text;
    std::array<char, 65536> bytes{};
    while (true) {
        const auto count = ::read(descriptor, bytes.data(), bytes.size());
        if (count == 0) return text;
        if (count < 0 && errno == EINTR && interrupts == 0) continue;
        if (count < 0)
            return error(Errc::invalid, fmt::format("{}: {}", path, std::strerror(errno)));
        text.append(bytes.data(), static_cast<std::size_t>(count));
        if (text.size() > file_max)
            return error(Errc::invalid, fmt::format("{} is larger than 64 MiB", path));
    }
}

std::uint32_t cpus_for_us() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

bool interrupt_is_pending() { return interrupts > 0; }

RealWorld::RealWorld() {
    for (char** variable = environ; *variable; ++variable) {
        const std::string text(*variable);
        if (const auto equals = text.find('='); equals != std::string::npos)
            environment_[text.substr(0, equals)] = text.substr(equals + 1);
    }
}

HostFacts RealWorld::host() const {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const auto home = environment_.find("HOME");
    return {.host_name = name[0] ? name.data() : "worker",
            .cpus = cpus_for_us(),
            .home = home == environment_.end() ? "" : home->second};
}

std::string RealWorld::current_directory() const {
    std::array<char, 4096> path{};
    return ::getcwd(path.data(), path.size()) ? path.data() : "/";
}

Result<std::string> RealWorld::read_file(const std::string& path) {
    if (path == "-") return read_all(STDIN_FILENO, "standard input");
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        const auto code = errno == ENOENT || errno == ENOTDIR ? Errc::not_found : Errc::invalid;
        return error(code, fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
    }
    auto text = read_all(descriptor, path);
    ::close(descriptor);
    return text;
}

Result<std::string> RealWorld::read_trusted_file(const std::string& path) {
    return perdure::read_trusted_file(path);
}

WallTime RealWorld::now() const { return wall_now(); }

std::uint64_t RealWorld::random() { return Entropy().next(); }

void RealWorld::pause(Duration duration) {
    if (interrupts > 0) return;
    ::poll(nullptr, 0, static_cast<int>(duration.us / 1000));  // a signal ends it
}

void RealWorld::catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = note_interrupt;  // no SA_RESTART: whoever waits shall notice
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool RealWorld::interrupted() {
    if (interrupts == 0) return false;
    interrupts = 0;
    return true;
}

std::optional<std::string> RealWorld::read_answer() {
    std::string line;
    char c = 0;
    while (::read(STDIN_FILENO, &c, 1) == 1) {
        if (c == '\n') return line;
        line += c;
    }
    return std::nullopt;
}

}  // namespace perdure
