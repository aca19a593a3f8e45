#include "core/ownership/start.h"

#include "base/zoo.h"

namespace perdure {

StartDecision decide_start(const StartFacts& f) {
    // It runs, and the cut that hid it is over: to fence it now would kill what can come back.
    const bool runs_unseen = !f.in_run && f.presumed_lost && !f.asks;
    if (runs_unseen) return {.answer = StartAnswer::again, .rule = "O1/presumed_lost_has_started"};
    if (!f.in_run || !f.session_is_owner) return {.rule = "O1/not_the_running_attempt"};
    if (f.state == JobState::running) return {.answer = StartAnswer::go, .rule = "O4/repeated_ask"};
    if (f.kill_ordered && f.asks) return {.rule = "E1/cancelled_before_start"};
    return {.answer = StartAnswer::go, .commit_running = true, .rule = "O4/go"};
}

std::string_view lease_forbids_start(const Terms& terms, BootTime lease_until, BootTime now,
                                     const Timing& timing) {
    const auto kill = decide_lease_kill(
        {.terms = terms, .lease_until = lease_until, .worker_heard_at = now}, timing);
    if (kill.at && now >= *kill.at) return "O7/would_be_killed";
    if (now >= lease_until) return "O4/lease_over";
    return {};
}

ExecDecision decide_exec(const ExecFacts& f, const Timing& timing) {
    if (f.already_started) return {ExecAnswer::never, "O4/once_per_directory"};
    if (f.kill_ordered) return {ExecAnswer::never, "E1/killed_before_start"};
    const auto forbidden = lease_forbids_start(f.terms, f.lease_until, f.now, timing);
    if (!forbidden.empty()) return {ExecAnswer::never, forbidden};
    if (!f.terms.asks) return {ExecAnswer::exec, "O4/at_once"};
    if (!f.go_until) return {ExecAnswer::not_yet, "O4/no_go_yet"};
    if (f.now >= *f.go_until && !zoo(Bug::old_go_never_expires))
        return {ExecAnswer::not_yet, "O4/go_is_too_old"};
    return {ExecAnswer::exec, "O4/go"};
}

}  // namespace perdure
