// perdure-shim: started by a worker, once for each attempt; not for people.
//   descriptor 3  the attempt's directory, locked by the worker for us: who holds it is its shim
//   descriptor 4  a stream socket to that worker
//   descriptor 5  the lock on the worker's cgroups, if it has any: while we have it, ours stays
//   descriptor 6  memory with the values of the order's secrets, if it has any
// Exit code 0: the result is on disk. Others: there is none, and nothing was started.
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string_view>

#include "base/fault.h"
#include "base/zoo.h"
#include "shim/format/attempt_files.h"
#include "shim/format/fd.h"
#include "shim/format/order.h"
#include "shim/shim.h"

namespace {

constexpr int directory_fd = 3;
constexpr int worker_fd = 4;
constexpr int slots_fd = 5;
constexpr int secrets_fd = 6;

enum Exit { not_started_by_a_worker = 64, bad_order = 65, no_resources = 71 };

bool hold_what_was_given() {
    return ::fcntl(directory_fd, F_SETFD, FD_CLOEXEC) == 0 &&
           ::fcntl(worker_fd, F_SETFD, FD_CLOEXEC) == 0 && ::fchdir(directory_fd) == 0 &&
           ::flock(directory_fd, LOCK_EX | LOCK_NB) == 0;
}

// Signals are the worker's business, not a terminal's: all are blocked, SIGCHLD is read.
bool prepare_process() {
    sigset_t all;
    ::sigfillset(&all);
    ::fcntl(slots_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(secrets_fd, F_SETFD, FD_CLOEXEC);
    ::close_range(secrets_fd + 1, ~0U, 0);
    return ::sigprocmask(SIG_SETMASK, &all, nullptr) == 0 &&
           ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// The build with deliberate bugs has the one that its file is named after: shim-tree_left_alive.
void arm_bug_of_program_name() {
#ifdef PERDURE_ZOO
    char path[4096];
    const auto size = ::readlink("/proc/self/exe", path, sizeof path);
    const std::string_view whole(path, size > 0 ? static_cast<std::size_t>(size) : 0);
    const auto bug = perdure::bug_named(whole.substr(whole.rfind('-') + 1));
    if (bug) perdure::zoo_bug = *bug;
#endif
}

// Read once, and kept in our own memory until the command is executed.
bool fetch_secrets(perdure::Order& order) {
    const perdure::Fd memory(secrets_fd);
    if (order.secrets.empty()) return true;
    const auto text = perdure::read_open_file(memory.get(), perdure::secrets_max);
    return text && perdure::take_secrets(order, *text);
}

// Which faults there are was drawn by the worker; each strikes once.
void arm(std::vector<std::string> faults) {
    for (auto& fault : faults) fault += "=100%x1";
    auto parsed = perdure::parse_faults(faults);
    if (parsed) perdure::arm_faults(std::move(*parsed), "", 0);
}

}  // namespace

int main() {
    using namespace perdure;
    arm_bug_of_program_name();
    if (!hold_what_was_given()) return not_started_by_a_worker;
    if (!prepare_process()) return no_resources;
    const auto text = read_file(directory_fd, attempt_files::order, order_max);
    if (!text) return bad_order;
    auto order = parse_order(*text);
    if (!order || !fetch_secrets(*order)) return bad_order;
    if (!order->faults.empty()) arm(order->faults);
    die_if(Fault::shim_dies_at_once);
    Shim shim(Fd(directory_fd), Fd(worker_fd), std::move(*order));
    return shim.run();
}
