#include "core/ownership/reconcile.h"

#include "base/zoo.h"

namespace perdure {
namespace {

using Kind = ReconcileDecision::Kind;

ReconcileDecision listed_and_owned(const ReconcileFacts& f) {
    const auto phase = f.listed->phase;
    if (phase == Listed::Phase::ended) return {Kind::nothing, "O6/report_is_coming"};
    if (f.kill_cause) return {Kind::kill, "E1/ordered"};
    // Also of an attempt that asks: what runs, runs, and must never pass for "did not run".
    const bool unconfirmed = f.state == JobState::starting;
    if (phase == Listed::Phase::running && unconfirmed) return {Kind::confirm_start, "O4/runs"};
    if (f.recalled && unconfirmed) return {Kind::recall, "O3/ordered_back"};
    return {Kind::nothing, "O6/agreed"};
}

// The store knows that there was such a job, and nothing else.
ReconcileDecision listed_and_gone(const ReconcileFacts& f) {
    const bool has_ended = f.listed->phase == Listed::Phase::ended;
    if (has_ended) return {Kind::nothing, "O6/report_is_coming"};
    return {Kind::stop, "O1/job_is_gone"};
}

ReconcileDecision listed_but_not_owned(const ReconcileFacts& f) {
    if (f.job_gone && !zoo(Bug::gone_taken_for_lost_commits)) return listed_and_gone(f);
    if (f.listed->attempt.epoch > f.store_epoch) return {Kind::store_is_behind, "O6/future_epoch"};
    const bool is_last = f.listed->attempt.epoch == f.store_epoch && !f.owned_elsewhere;
    const bool newest = is_last || zoo(Bug::reinstate_after_claim);
    const bool has_ended = f.listed->phase == Listed::Phase::ended;
    const bool alive = f.listed->phase == Listed::Phase::running;
    // An exclusive attempt gave up its key when it was presumed lost: it cannot come back.
    const bool fenced = f.isolation == Isolation::fenced;
    const bool is_presumed = f.presumed_lost && !f.job_ended;
    const bool may_return = newest && is_presumed && f.may_have_begun && f.began_here &&
                            (fenced || zoo(Bug::exclusive_is_reinstated)) &&
                            !zoo(Bug::presumed_lost_never_reinstated);
    // Its result is on the way: nobody may claim the job before it is here.
    if (may_return && has_ended) return {Kind::reinstate, "O1/presumed_lost_has_a_result"};
    if (may_return && alive) return {Kind::reinstate, "O1/presumed_lost_is_alive"};
    if (has_ended) return {Kind::nothing, "O6/report_is_coming"};
    const bool harmless = newest && alive && fenced;
    // Nobody else will start it, and its result is the evidence that a person needs.
    if (harmless && f.quarantined && f.effects == Effects::once)
        return {Kind::nothing, "O7/once_runs_to_its_end"};
    if (zoo(Bug::no_fence_on_heartbeat)) return {Kind::nothing, "O6/agreed"};
    return {Kind::stop, "O1/not_the_running_attempt"};
}

ReconcileDecision owned_but_not_listed(const ReconcileFacts& f) {
    if (f.assignment > f.seen) {
        // To send it now would start it after its end was ordered; its confirmation runs out.
        if (f.kill_cause) return {Kind::nothing, "E1/ordered_before_it_was_seen"};
        if (f.recalled) return {Kind::nothing, "O3/ordered_back_before_it_was_seen"};
        return {Kind::resend, "O6/not_seen_yet"};
    }
    // Seen, and the worker does not have it: it will discard it should it still arrive.
    AttemptEnd end{.clean = f.clean, .reported = true};
    if (f.state == JobState::running) {
        end.cause = f.kill_cause.value_or(Cause::shim_lost);
        end.ran = f.asks ? Ran::maybe : Ran::yes;
        return {Kind::lost, "O6/started_and_not_listed", end};
    }
    // Its session is heard: it is handed back, nobody was lost (E4).
    end.cause = f.kill_cause.value_or(Cause::evicted);
    end.ran = Ran::no;
    return {Kind::did_not_start, "O6/not_listed", end};
}

}  // namespace

HeartbeatDecision decide_heartbeat(const HeartbeatFacts& f) {
    if (!f.session_is_open) return {HeartbeatAnswer::session_ended, "O1/session_ended"};
    if (f.number > f.last_number) return {HeartbeatAnswer::accept, "O6/newer"};
    if (f.number == f.last_number && !f.same_content)
        return {HeartbeatAnswer::cloned, "O5/one_number_two_contents"};
    return {HeartbeatAnswer::ignore, "O6/not_newer"};
}

ReconcileFacts stranger_facts(const StrangersJob& job, const Listed& listed, std::uint64_t seen) {
    const bool newest = job.epoch == listed.attempt.epoch;
    const bool runs = job.state == JobState::starting || job.state == JobState::running;
    ReconcileFacts facts{.store_epoch = job.epoch, .listed = listed, .seen = seen};
    facts.presumed_lost = newest && job.presumed_lost && is_waiting_for_a_claim(job.state);
    facts.owned_elsewhere = newest && runs;
    facts.job_ended = has_ended(job.state);
    facts.job_gone = job.gone;
    facts.quarantined = job.state == JobState::quarantined && !job.discarded;
    facts.effects = job.effects;
    if (newest) {
        facts.isolation = job.isolation;
        facts.may_have_begun = job.may_have_begun;
        facts.began_here = job.began_here;
    }
    if (zoo(Bug::reinstate_after_claim)) facts.presumed_lost = !has_ended(job.state);
    return facts;
}

ReconcileDecision decide_reconcile(const ReconcileFacts& f) {
    if (f.listed && f.in_run) return listed_and_owned(f);
    if (f.listed) return listed_but_not_owned(f);
    if (f.in_run) return owned_but_not_listed(f);
    return {Kind::nothing, "O6/agreed"};
}

}  // namespace perdure
