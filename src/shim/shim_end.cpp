#include <signal.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/fault.h"
#include "base/zoo.h"
#include "core/ownership/isolation.h"
#include "shim/clocks.h"
#include "shim/format/attempt_files.h"
#include "shim/format/json_text.h"
#include "shim/format/reclaim.h"
#include "shim/protocol.h"
#include "shim/shim.h"
#include "shim/tree.h"

namespace perdure {
namespace {

constexpr Duration sweep_pause = milliseconds(10);
constexpr Duration write_pause = milliseconds(500);
constexpr int send_patience_ms = 1'000;

LeaseKillFacts lease_facts(const Order& order, BootTime lease_until, BootTime worker_heard_at) {
    return {.terms = order.terms, .lease_until = lease_until, .worker_heard_at = worker_heard_at};
}

}  // namespace

// --- killing -------------------------------------------------------------------------------------

void Shim::kill(Cause cause) {
    if (phase_ == Phase::waiting) return finish({.cause = cause, .ran = Ran::no}, {});
    if (phase_ != Phase::running || leader_status_) return;
    // A lease that is over leaves no time for manners.
    if (cause == Cause::cut_off) return kill_now(cause);
    if (killing_) return;
    killing_ = {.cause = cause, .hard_at = shim_mono_now() + order_.timing.kill_grace};
    sweep_at_ = killing_->hard_at;
    signal_descendants(::getpid(), SIGTERM);
    signal_descendants(::getpid(), SIGCONT);  // the stopped ones, too, shall hear it
}

void Shim::kill_now(Cause cause) {
    killing_ = {.cause = killing_ ? killing_->cause : cause, .hard_at = shim_mono_now()};
    sweep_at_ = killing_->hard_at;
    clear_tree();
}

// SIGKILL to all that is left, pass by pass, until there are no children: as a subreaper, we would
// have them. In effect when the command has ended by itself, or the grace of a kill is over.
void Shim::clear_tree() {
    const auto now = shim_mono_now();
    const bool time_has_come = killing_ ? now >= killing_->hard_at : leader_status_.has_value();
    if (phase_ != Phase::running || !time_has_come || now < sweep_at_) return;
    if (strikes(Fault::shim_tree_survives)) {
        sweep_at_ = now + write_pause;
        return;
    }
    if (!order_.cgroup.empty()) {
        const Fd switch_off(::open((order_.cgroup + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
        if (switch_off) write_all(switch_off.get(), "1");
    }
    if (!zoo(Bug::tree_left_alive)) {
        signal_descendants(::getpid(), SIGKILL);
    } else if (leader_status_) {
        return conclude();
    } else {
        ::kill(leader_, SIGKILL);
    }
    sweep_at_ = shim_mono_now() + sweep_pause;
    reap();
}

void Shim::arm_lease_timer() {
    if (phase_ != Phase::running) return;
    const auto kill =
        decide_lease_kill(lease_facts(order_, lease_until_, worker_heard_at_), order_.timing);
    if (!kill.at) return;
    if (!lease_timer_)
        lease_timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
    const auto at = std::max<std::int64_t>(kill.at->us, 1);
    itimerspec when{};
    when.it_value.tv_sec = at / 1'000'000;
    when.it_value.tv_nsec = at % 1'000'000 * 1'000;
    ::timerfd_settime(lease_timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Shim::check_lease() {
    const auto decision =
        decide_lease_kill(lease_facts(order_, lease_until_, worker_heard_at_), order_.timing);
    if (!decision.at || shim_boot_now() < *decision.at) return arm_lease_timer();
    lease_timer_.reset();
    if (phase_ != Phase::running) return;
    if (!leader_status_) return kill_now(Cause::cut_off);
    // The command has ended by itself; what it left must be gone as well when the lease ends.
    sweep_at_ = {};
    clear_tree();
}

// --- ending --------------------------------------------------------------------------------------

void Shim::reap() {
    if (phase_ != Phase::running) return;
    while (true) {
        int status = 0;
        rusage used{};
        const auto pid = ::wait4(-1, &status, WNOHANG, &used);
        if (pid == 0) break;
        if (pid < 0 && errno == EINTR) continue;
        no_children_ = pid < 0;
        if (no_children_) break;
        add_usage(usage_, used);
        peak_memory_ = std::max(peak_memory_, static_cast<std::uint64_t>(used.ru_maxrss) * 1'024);
        if (pid != leader_) continue;
        leader_status_ = status;
        ran_for_ = shim_mono_now() - started_at_;
        exited_before_kill_ = !killing_;
        if (!killing_) sweep_at_ = {};  // what it has left behind goes at once
    }
    if (no_children_) conclude();
}

// The command and all that descends from it are gone.
void Shim::conclude() {
    while (output_) {  // what is left in the pipe
        const auto before = log_.printed();
        read_output();
        if (log_.printed() == before) break;
    }
    log_.finish();
    auto end = own_end();
    std::string detail;
    if (killing_ && !exited_before_kill_) {
        end.succeeded = false;
        end.cause = killing_->cause;
        end.at.reset();
    }
    // Its own host may have run out of memory, or somebody meant it: nobody says so [P9].
    if (end.cause == Cause::crash_signal && end.exit_code == SIGKILL)
        detail = "signal 9, sender unknown";
    if (progress_ && !end.succeeded) {
        detail += detail.empty() ? "" : "; ";
        detail += "last progress: " + std::to_string(progress_->percent) + " % " + progress_->body;
    }
    if (log_.lost() > 0) {
        detail += detail.empty() ? "" : "; ";
        detail += "the disk did not take " + std::to_string(log_.lost()) + " bytes of its output";
    }
    finish(end, std::move(detail));
}

AttemptEnd Shim::own_end() const {
    AttemptEnd end{.cause = Cause::exit, .ran = Ran::yes, .clean = clean_};
    const int status = leader_status_.value_or(0);
    if (WIFSIGNALED(status) && !zoo(Bug::signal_called_exit)) {
        end.cause = Cause::crash_signal;
        end.exit_code = WTERMSIG(status);
        if (end.exit_code == SIGKILL && oom_kills() > oom_kills_before_) end.cause = Cause::oom;
        return end;
    }
    end.exit_code = WEXITSTATUS(status);
    end.succeeded = end.exit_code == 0;
    if (!end.succeeded && verdict_) {
        end.cause = verdict_->verdict;
        end.at = verdict_->verdict_at;
    }
    return end;
}

// "oom_kill 3", on a line of its own: so in memory.events (v2) and in memory.oom_control (v1).
std::uint64_t oom_kills_in(std::string_view text) {
    constexpr std::string_view label = "oom_kill ";
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with(label))
            return number_in<std::uint64_t>(line.substr(label.size())).value_or(0);
    }
    return 0;
}

std::uint64_t Shim::oom_kills() const {
    if (order_.oom_counter.empty()) return 0;
    const auto text = read_file(AT_FDCWD, order_.oom_counter.c_str(), 4096);
    return text ? oom_kills_in(*text) : 0;
}

std::string Shim::result_left_by_the_job(std::string& detail) {
    if (result_) return *std::exchange(result_, std::nullopt);
    const auto work = open_reclaimed(directory_.get(), attempt_files::work);
    struct stat about {};
    if (!work ||
        ::fstatat(work.get(), attempt_files::work_result, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return {};
    // A second name of a file that the job could not read is not its result.
    const bool is_its_own = !order_.become || about.st_uid == order_.become->uid;
    const bool is_ours =
        is_its_own &&
        (!order_.become || ::fchownat(work.get(), attempt_files::work_result, ::geteuid(),
                                      ::getegid(), AT_SYMLINK_NOFOLLOW) == 0);
    auto text =
        is_ours ? read_file(work.get(), attempt_files::work_result, result_max) : std::nullopt;
    if (text && is_json(*text)) return std::move(*text);
    detail += detail.empty() ? "" : "; ";
    detail += "the result file is not valid JSON of at most 1 MiB";
    return {};
}

void Shim::finish(AttemptEnd end, std::string detail) {
    if (phase_ == Phase::ended || phase_ == Phase::told) return;
    Evidence evidence;
    if (end.ran != Ran::no) evidence.result = result_left_by_the_job(detail);
    evidence.detail = std::move(detail);
    evidence.last_lines = log_.last_lines(last_lines_max, last_lines_count);
    evidence.host = order_.host;
    evidence.peak_memory = peak_memory_;
    evidence.ran_for = ran_for_;
    evidence.output_cut = log_.cut();
    if (end.ran != Ran::no)
        evidence.usage = greater_usage(usage_, group_before_, usage_of_cgroup(order_.cgroup));
    end.reported = true;
    result_text_ = attempt_files::result_json(end, evidence);
    did_not_run_ = end.ran == Ran::no;
    job_socket_.close();
    asks_.clear();
    phase_ = Phase::ended;
    write_result();
}

void Shim::write_result() {
    using namespace attempt_files;
    struct stat about {};
    if (strikes(Fault::shim_before_rename)) {
        write_plainly(directory_.get(), result_draft, result_text_);
        ::kill(::getpid(), SIGKILL);
    }
    const int failed = strikes(Fault::shim_disk_full)
                           ? ENOSPC
                           : write_durably(directory_.get(), attempt_files::result, result_text_);
    if (!failed) die_if(Fault::shim_after_rename);
    // Without a result, a directory says the same about what did not run as soon as `started` is
    // not there. Everything else waits for room on the disk.
    if (failed && did_not_run_) ::unlinkat(directory_.get(), started, 0);
    // A job may have removed the directory itself. Then nothing can be kept there any more, and the
    // worker is told what it would have read.
    const bool can_be_kept =
        !failed || ::fstat(directory_.get(), &about) != 0 || about.st_nlink > 0;
    if (failed && can_be_kept && !did_not_run_) {
        write_again_at_ = shim_mono_now() + write_pause;
        return;
    }
    const bool fits = result_text_.size() <= result_inline_max;
    // The last of the output was kept just now: the worker fetches it before it reports the end.
    if (log_.printed() > 0) link_.send(talk::printed);
    link_.send(talk::ended, fits ? std::string_view(result_text_) : std::string_view{});
    link_.flush(send_patience_ms);
    phase_ = Phase::told;
}

}  // namespace perdure
