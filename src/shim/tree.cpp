#include "shim/tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "shim/format/records.h"

namespace perdure {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// "12 (a name) S 7 ...": the name may hold anything, also brackets.
std::optional<ProcessRow> read_row(pid_t pid) {
    char path[32] = "/proc/";
    auto* end = std::to_chars(path + 6, path + 20, pid).ptr;
    std::copy_n("/stat", 6, end);
    const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    char text[512];
    const auto got = ::read(file.get(), text, sizeof text);
    if (got <= 0) return std::nullopt;
    const std::string_view stat(text, static_cast<std::size_t>(got));
    const auto bracket = stat.rfind(')');
    if (bracket == std::string_view::npos || bracket + 4 >= stat.size()) return std::nullopt;
    const auto from_parent = stat.substr(bracket + 4);
    const auto parent = number_in<pid_t>(from_parent.substr(0, from_parent.find(' ')));
    if (!parent) return std::nullopt;
    return ProcessRow{pid, *parent, stat[bracket + 2]};
}

}  // namespace

std::vector<ProcessRow> list_processes() {
    std::vector<ProcessRow> rows;
    const std::unique_ptr<DIR, CloseDirectory> proc(::opendir("/proc"));
    if (!proc) return rows;
    while (const auto* entry = ::readdir(proc.get())) {
        const auto pid = number_in<pid_t>(entry->d_name);
        if (!pid) continue;
        if (const auto row = read_row(*pid)) rows.push_back(*row);
    }
    return rows;
}

std::vector<ProcessRow> descendants_of(pid_t root, const std::vector<ProcessRow>& all) {
    std::vector<ProcessRow> found;
    std::vector<pid_t> parents{root};
    while (!parents.empty()) {
        const auto parent = parents.back();
        parents.pop_back();
        for (const auto& row : all) {
            if (row.parent != parent || row.pid == row.parent) continue;
            found.push_back(row);
            parents.push_back(row.pid);
        }
    }
    return found;
}

Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool send_signal(const Fd& pidfd, int signal) {
    return pidfd && ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
}

bool signal_if_same(const ProcessRow& row, int signal) {
    const auto pidfd = open_pidfd(row.pid);
    const auto now = read_row(row.pid);
    return now && now->parent == row.parent && send_signal(pidfd, signal);
}

std::size_t signal_descendants(pid_t root, int signal) {
    std::size_t alive = 0;
    for (const auto& row : descendants_of(root, list_processes())) {
        if (row.state == 'Z') continue;
        ++alive;
        signal_if_same(row, signal);
    }
    return alive;
}

}  // namespace perdure
