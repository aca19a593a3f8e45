#include "drill/world/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "shim/format/fd.h"
#include "shim/tree.h"
#include "testbed/child.h"

namespace perdure::drill {
namespace {

constexpr std::size_t environment_max = std::size_t{1} << 20;
constexpr int passes_max = 200;
constexpr useconds_t between_passes_us = 10'000;

std::string content_of(pid_t process, const char* file) {
    const auto path = fmt::format("/proc/{}/{}", process, file);
    return read_file(AT_FDCWD, path.c_str(), environment_max).value_or(std::string());
}

}  // namespace

bool is_alive(pid_t process) {
    const auto stat = content_of(process, "stat");
    const auto bracket = stat.rfind(')');
    if (bracket == std::string::npos || bracket + 2 >= stat.size()) return false;
    const char state = stat[bracket + 2];
    return state != 'Z' && state != 'X';
}

pid_t parent_of(pid_t process) {
    for (const auto& row : list_processes())
        if (row.pid == process) return row.parent;
    return 0;
}

std::vector<pid_t> tree_of(pid_t root) {
    std::vector<pid_t> tree{root};
    for (const auto& row : descendants_of(root, list_processes())) tree.push_back(row.pid);
    return tree;
}

pid_t child_with(pid_t parent, std::string_view word) {
    for (const auto& row : list_processes())
        if (row.parent == parent && row.state != 'Z' &&
            content_of(row.pid, "cmdline").find(word) != std::string::npos)
            return row.pid;
    return 0;
}

std::vector<pid_t> with_environment(const std::string& text) {
    std::vector<pid_t> found;
    for (const auto& row : list_processes()) {
        if (row.pid == ::getpid() || row.state == 'Z') continue;
        if (content_of(row.pid, "environ").find(text) != std::string::npos)
            found.push_back(row.pid);
    }
    return found;
}

void signal_all(const std::vector<pid_t>& processes, int number) {
    for (const auto process : processes) ::kill(process, number);
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

void end_all_descendants() {
    for (int pass = 0; pass < passes_max; ++pass) {
        reap_orphans();
        if (signal_descendants(::getpid(), SIGKILL) == 0) return;
        ::usleep(between_passes_us);
    }
}

void reap_orphans() {
    for (const auto& row : list_processes())
        if (row.parent == ::getpid() && row.state == 'Z' && !Child::is_held(row.pid))
            ::waitpid(row.pid, nullptr, WNOHANG);
}

}  // namespace perdure::drill
