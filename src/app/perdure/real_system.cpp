#include "app/perdure/real_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "platform/entropy.h"
#include "platform/files_mark.h"
#include "platform/system_time.h"
#include "platform/trusted_path.h"

namespace perdure {
namespace {

volatile sig_atomic_t interrupts = 0;

volatile sig_atomic_t terminations = 0;  // of those

void note_interrupt(int number) {
    interrupts = interrupts + 1;
    if (number == SIGTERM) terminations = terminations + 1;
}

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

RealSystem::RealSystem() {
    for (char** variable = environ; *variable; ++variable) {
        const std::string text(*variable);
        if (const auto equals = text.find('='); equals != std::string::npos)
            environment_[text.substr(0, equals)] = text.substr(equals + 1);
    }
}

HostFacts RealSystem::host() const {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const auto home = environment_.find("HOME");
    return {.host_name = name[0] ? name.data() : "worker",
            .cpus = cpus_for_us(),
            .home = home == environment_.end() ? "" : home->second};
}

std::string RealSystem::current_directory() const {
    std::array<char, 4096> path{};
    return ::getcwd(path.data(), path.size()) ? path.data() : "/";
}

JobHost RealSystem::here() const {
    return {.limits = {}, .uid = ::geteuid(), .files = files_mark()};
}

Result<std::string> RealSystem::read_file(const std::string& path) {
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

Result<std::string> RealSystem::read_trusted_file(const std::string& path) {
    return perdure::read_trusted_file(path);
}

WallTime RealSystem::now() const { return wall_now(); }

Duration RealSystem::utc_offset(WallTime at) const {
    const time_t second = at.us / 1'000'000;
    struct tm local {};
    return ::localtime_r(&second, &local) ? seconds(local.tm_gmtoff) : Duration{};
}

std::uint64_t RealSystem::random() { return Entropy().next(); }

void RealSystem::pause(Duration duration) {
    if (interrupts > 0) return;
    ::poll(nullptr, 0, static_cast<int>(duration.us / 1000));  // a signal ends it
}

void RealSystem::catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = note_interrupt;  // no SA_RESTART: whoever waits shall notice
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

cli::Interrupt RealSystem::interrupted() {
    if (interrupts == 0) return cli::Interrupt::none;
    const bool by_signal = terminations > 0;
    interrupts = 0;
    terminations = 0;
    return by_signal ? cli::Interrupt::by_signal : cli::Interrupt::by_person;
}

std::optional<std::string> RealSystem::read_answer(const std::function<bool()>& is_over) {
    std::string line;
    while (interrupts == 0) {
        pollfd source{STDIN_FILENO, POLLIN, 0};
        const int ready = ::poll(&source, 1, 1'000);
        if (ready == 0 && is_over && is_over()) break;
        if (ready <= 0) continue;
        char c = 0;
        if (::read(STDIN_FILENO, &c, 1) != 1) break;
        if (c == '\n') return line;
        line += c;
    }
    return std::nullopt;
}

bool RealSystem::has_input() const {
    struct stat about {};
    if (::fstat(STDIN_FILENO, &about) != 0) return false;
    if (S_ISREG(about.st_mode)) return ::lseek(STDIN_FILENO, 0, SEEK_CUR) < about.st_size;
    int bytes = 0;
    return (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)) &&
           ::ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

// A job of its own submits for itself: what a person did last stays the last.
std::string RealSystem::memory_folder() const {
    const auto value = [&](const char* name) {
        const auto found = environment_.find(name);
        return found == environment_.end() ? std::string() : found->second;
    };
    if (!value("PERDURE_JOB").empty()) return "";
    if (const auto state = value("XDG_STATE_HOME"); state.starts_with('/'))
        return state + "/perdure";
    const auto home = value("HOME");
    return home.starts_with('/') ? home + "/.local/state/perdure" : "";
}

std::string RealSystem::last_job() const {
    const auto folder = memory_folder();
    if (folder.empty()) return "";
    const auto text = perdure::read_trusted_file(folder + "/last-job");
    return text ? text->substr(0, text->find('\n')) : "";
}

void RealSystem::remember_job(const std::string& id) {
    const auto folder = memory_folder();
    if (folder.empty()) return;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    // Renamed into its place: two that write at the same time leave one of the two ids.
    const auto path = fmt::format("{}/last-job.{}", folder, ::getpid());
    const int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    const auto line = id + "\n";
    const bool written =
        ::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::close(descriptor);
    if (!written || ::rename(path.c_str(), (folder + "/last-job").c_str()) != 0)
        ::unlink(path.c_str());
}

}  // namespace perdure
