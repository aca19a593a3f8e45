#include "watchdog/orphan_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>

namespace perdure {

std::vector<pid_t> children_of_this_process() {
    std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
    std::vector<pid_t> children;
    for (pid_t child = 0; list >> child;) children.push_back(child);
    return children;
}

std::string program_of(pid_t process) {
    std::array<char, 4096> target{};
    const auto link = fmt::format("/proc/{}/exe", process);
    const auto length = ::readlink(link.c_str(), target.data(), target.size());
    if (length <= 0) return {};
    std::string_view path(target.data(), static_cast<std::size_t>(length));
    // An upgrade has replaced the file; the process runs the old one.
    constexpr std::string_view replaced = " (deleted)";
    if (path.ends_with(replaced)) path.remove_suffix(replaced.size());
    return std::string(path.substr(path.rfind('/') + 1));
}

std::vector<std::string> kill_leftovers(const std::set<pid_t>& spared, const std::string& shim) {
    std::vector<std::string> killed;
    for (const auto child : children_of_this_process()) {
        if (spared.contains(child)) continue;
        const auto program = program_of(child);
        if (program.empty() || program == shim) continue;
        if (::kill(child, SIGKILL) == 0) killed.push_back(fmt::format("{} ({})", program, child));
    }
    return killed;
}

}  // namespace perdure
