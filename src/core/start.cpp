#include "core/start.h"

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

ExecDecision decide_exec(const ExecFacts& f, const Timing& timing) {
    if (f.already_started) return {ExecAnswer::never, "O4/once_per_directory"};
    if (f.kill_ordered) return {ExecAnswer::never, "E1/killed_before_start"};
    const auto kill = decide_lease_kill(
        {.terms = f.terms, .lease_until = f.lease_until, .worker_heard_at = f.now}, timing);
    if (kill.at && f.now >= *kill.at) return {ExecAnswer::never, "O7/would_be_killed"};
    // `hold` lets a running attempt go on; it is no right to begin one.
    if (f.now >= f.lease_until) return {ExecAnswer::never, "O4/lease_over"};
    if (!f.terms.asks) return {ExecAnswer::exec, "O4/at_once"};
    if (!f.go_until) return {ExecAnswer::not_yet, "O4/no_go_yet"};
    if (f.now >= *f.go_until && !zoo(Bug::old_go_never_expires))
        return {ExecAnswer::not_yet, "O4/go_is_too_old"};
    return {ExecAnswer::exec, "O4/go"};
}

}  // namespace perdure
