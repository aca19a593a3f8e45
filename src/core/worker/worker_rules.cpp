#include "core/worker/worker_rules.h"

namespace perdure {

AttemptEnd did_not_run(Cause cause) { return {.cause = cause, .ran = Ran::no, .reported = true}; }

FoundDecision decide_found(const FoundFacts& f) {
    using Phase = Listed::Phase;
    if (f.has_result) return {Phase::ended, std::nullopt, "O5/result_on_disk"};
    if (f.started && f.shim_alive) return {Phase::running, std::nullopt, "O5/adopted"};
    if (f.started) {
        // `started` is written before exec: nobody is left who knows whether it came to that.
        const AttemptEnd end{.cause = Cause::shim_lost, .ran = Ran::maybe, .reported = true};
        return {Phase::running, end, "O8/shim_lost"};
    }
    if (f.shim_alive) return {Phase::unstarted, std::nullopt, "O5/adopted_unstarted"};
    return {Phase::unstarted, did_not_run(Cause::shim_failed), "O4/no_shim_no_start"};
}

AssignmentDecision decide_assignment(const AssignmentFacts& f) {
    using Answer = AssignmentAnswer;
    if (f.known) return {Answer::ignore, "O6/here_already"};
    if (f.handled) return {Answer::ignore, "O6/was_here"};
    if (f.number <= f.named) return {Answer::discard, "O6/named_and_not_listed"};
    if (f.other && *f.other > f.epoch) return {Answer::discard, "O8/older_epoch"};
    if (!f.takes_new) return {Answer::hand_back, "O6/takes_nothing_new"};
    if (f.other) return {Answer::take_and_kill_older, "O8/newer_epoch"};
    return {Answer::take, "O6/new"};
}

Cause decide_prepare_failure(Errc code) {
    switch (code) {
        case Errc::conflict: return Cause::lock_busy;
        case Errc::invalid:
        case Errc::not_found: return Cause::command_unusable;
        case Errc::overloaded: return Cause::no_resources;
        case Errc::gone:
        case Errc::unauthenticated:
        case Errc::forbidden:
        case Errc::fenced:
        case Errc::unavailable:
        case Errc::outcome_unknown:
        case Errc::corrupt: return Cause::shim_failed;
    }
    return Cause::shim_failed;
}

AskDecision decide_ask(const AskFacts& f) {
    if (!f.asks) return {false, "O4/at_once"};
    if (f.started || f.killed || !f.prepared) return {false, "O4/nothing_to_ask"};
    if (!f.may_start) return {false, "L2/the_worker_leaves"};
    // After an outage: a go that comes before the renewal would only end the attempt.
    if (!f.lease_is_good) return {false, "O7/lease_first"};
    if (!f.go_until) return {true, "O4/ask"};
    if (f.now >= *f.go_until) return {true, "O4/go_expired"};
    return {false, "O4/go_is_good"};
}

WorkerKill decide_worker_kill(const WorkerKillFacts& f, const Timing& timing) {
    if (!f.may_run) return {std::nullopt, "O7/does_not_run"};
    if (!f.lease_until) return {std::nullopt, "O7/lease_unknown"};
    const auto shim = decide_lease_kill(
        {.terms = f.terms, .lease_until = *f.lease_until, .worker_heard_at = f.now}, timing);
    if (!shim.at || f.about_to_send) return {shim.at, shim.rule};
    return {*shim.at + timing.worker_kill, shim.rule};
}

OutputDecision decide_output(const OutputFacts& f) {
    if (!f.server_answers) return {true, "O1/no_server_answers"};
    if (f.waits_for >= output_patience_in_all) return {false, "O1/output_took_too_long"};
    if (f.quiet_for >= output_patience) return {false, "O1/output_is_not_taken"};
    return {true, "O1/output_first"};
}

LeaveDecision decide_leave(const LeaveFacts& f, const Timing& timing) {
    const bool time_is_over = f.draining_for >= timing.drain;
    if (f.has_attempts) return {false, time_is_over, "L2/finishes_what_it_has"};
    if (f.announced) return {true, false, "L2/announced"};
    if (time_is_over) return {true, false, "L2/nobody_listens"};
    if (!f.has_session && f.draining_for >= timing.call_timeout)
        return {true, false, "L2/no_session"};
    return {false, false, "L2/not_announced"};
}

RefusedDecision decide_refused(const RefusedFacts& facts) {
    if (facts.items > 1) return RefusedDecision::halve;
    return facts.has_evidence ? RefusedDecision::without_evidence : RefusedDecision::set_aside;
}

}  // namespace perdure
