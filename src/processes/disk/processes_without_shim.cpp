#include "processes/disk/processes_without_shim.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <mutex>
#include <optional>
#include <vector>

#include "processes/disk/attempt_directory.h"
#include "shim/clocks.h"
#include "shim/tree.h"

namespace perdure {
namespace {

constexpr Duration patience = seconds(2);
constexpr int pass_pause_ms = 5;
constexpr std::size_t environment_max = std::size_t{8} << 20;

std::optional<std::string> value_in_environment(pid_t pid, std::string_view variable) {
    const auto path = "/proc/" + std::to_string(pid) + "/environ";
    const auto text = read_file(AT_FDCWD, path.c_str(), environment_max);
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\0'), rest.size());
        const auto entry = rest.substr(0, end);
        if (entry.starts_with(variable)) return std::string(entry.substr(variable.size()));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::nullopt;
}

// The name of the attempt that a process belongs to, if it is one of this state directory.
std::optional<std::string> attempt_of(const StateFolder& folder, pid_t pid,
                                      std::string_view variable) {
    const auto value = value_in_environment(pid, variable);
    if (!value || !value->starts_with(folder.mark())) return std::nullopt;
    return value->substr(folder.mark().size());
}

using IsDead = std::function<bool(const std::string&)>;

class Pass {
public:
    Pass(StateFolder& folder, const IsDead& is_dead) : folder_(folder), is_dead_(is_dead) {}

    // How many were alive.
    std::size_t run() {
        const auto all = list_processes();
        std::vector<ProcessRow> doomed;
        for (const auto& row : all) {
            if (!is_leftover(row)) continue;
            doomed.push_back(row);
            for (const auto& below : descendants_of(row.pid, all)) doomed.push_back(below);
        }
        std::size_t alive = 0;
        for (const auto& row : doomed) {
            if (row.state == 'Z') continue;
            ++alive;
            signal_if_same(row, SIGKILL);
        }
        return alive;
    }

private:
    bool is_leftover(const ProcessRow& row) {
        if (row.parent == ::getpid() && !folder_.is_noted_shim(row.pid)) {
            if (row.state == 'Z') return ::waitpid(row.pid, nullptr, WNOHANG), false;
            return !value_in_environment(row.pid, shim_variable);
        }
        const auto attempt = attempt_of(folder_, row.pid, attempt_variable);
        return attempt && is_dead_(*attempt);
    }

    StateFolder& folder_;
    const IsDead& is_dead_;
};

}  // namespace

void become_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

bool kill_leftovers(StateFolder& folder, const IsDead& is_dead) {
    const std::unique_lock nobody_spawns(folder.spawning);
    const auto give_up_at = shim_boot_now() + patience;
    while (Pass(folder, is_dead).run() > 0) {
        if (shim_boot_now() >= give_up_at) return false;
        ::poll(nullptr, 0, pass_pause_ms);
    }
    return true;
}

void kill_shim(const StateFolder& folder, const std::string& name) {
    for (const auto& row : list_processes()) {
        const auto pidfd = open_pidfd(row.pid);
        if (attempt_of(folder, row.pid, shim_variable) == name) send_signal(pidfd, SIGKILL);
    }
}

bool clear_shim(const StateFolder& folder, const std::string& name) {
    const auto give_up_at = shim_boot_now() + seconds(1);
    while (is_locked(folder, name)) {
        if (shim_boot_now() >= give_up_at) return false;
        kill_shim(folder, name);
        ::poll(nullptr, 0, 1);
    }
    return true;
}

}  // namespace perdure
