#include "core/policy/recovery.h"

#include <algorithm>

#include "base/zoo.h"
#include "core/policy/custom_policy.h"

namespace perdure {
namespace {

// A start that was committed may have happened; one that had to ask and did not, has not (O4).
Ran ran_at_silence(const RunFacts& f) {
    if (zoo(Bug::silence_taken_for_did_not_run)) return Ran::no;
    if (f.state == JobState::starting) return f.terms.asks ? Ran::no : Ran::maybe;
    return f.terms.asks ? Ran::maybe : Ran::yes;
}

AttemptEnd presumed_end(const RunFacts& f) {
    return {.cause = f.kill_cause.value_or(Cause::worker_lost),
            .ran = ran_at_silence(f),
            .clean = f.clean,
            .alone = f.alone};
}

// Of a start that was never confirmed by a session that is heard: that says nothing about the job,
// and nobody was lost (O3, O4, E4).
RecoveryDecision given_up(const RunFacts& f, std::string_view rule) {
    const AttemptEnd end{
        .cause = Cause::evicted, .ran = ran_at_silence(f), .clean = f.clean, .counted = false};
    return {end, rule, Detector::confirmation};
}

RecoveryDecision after_confirmation(const RunFacts& f) {
    if (f.recalled) return given_up(f, "O3/not_handed_back");
    const bool heard = f.heard && !f.kill_cause && !zoo(Bug::unstarted_called_lost);
    // It lists the attempt, and it has not started it.
    if (heard && f.saw_assignment)
        return {std::nullopt, "O3/ordered_back", Detector::confirmation, true};
    if (heard) return given_up(f, "O4/assignment_never_seen");
    auto end = presumed_end(f);
    // Never saw the assignment: that says nothing about the job (O4).
    end.counted = f.saw_assignment;
    end.alone = false;
    return {end, "O4/start_never_confirmed", Detector::confirmation};
}

Duration grown(const PolicyRule& rule, std::uint32_t times) {
    auto wait = rule.first_wait;
    for (std::uint32_t i = 0; i < times && wait < rule.wait_max; ++i) {
        switch (rule.growth) {
            case Growth::constant: return std::min(wait, rule.wait_max);
            case Growth::linear: wait = wait + rule.first_wait; break;
            case Growth::exponential: wait = wait * 2; break;
        }
    }
    return std::min(wait, rule.wait_max);
}

// Shorter by up to `percent`, so that a thousand jobs that failed together do not return together.
// Drawn from the attempt: the same facts give the same wait on every server.
Duration jittered(Duration wait, std::uint32_t percent, AttemptKey attempt) {
    auto draw = attempt.job.value + attempt.epoch.value * 0x9e3779b97f4a7c15ULL;
    draw = (draw ^ (draw >> 30)) * 0xbf58476d1ce4e5b9ULL;
    draw = (draw ^ (draw >> 27)) * 0x94d049bb133111ebULL;
    const auto part = static_cast<std::int64_t>((draw >> 32) % 1000) * percent;
    return wait - Duration{wait.us / 100'000 * part};
}

// Which line of the policy judges an end, and how often it has, this time included.
struct Judgement {
    PolicyRule rule;
    std::uint32_t uses = 0;
};

Judgement judgement(const EndFacts& f, CauseClass c) {
    if (f.end.matched == 0) return {rule_for(f.policy, c), f.counts[c]};
    return {line_of(f.policy, f.end.matched), f.counts.of_rule(f.end.matched)};
}

Next again(const Judgement& judged_by, CauseClass c, const EndFacts& f) {
    const auto& rule = judged_by.rule;
    // What is not counted against the job is its worker's doing: another one may do better.
    Next next{.another_worker = rule.another_worker || !f.end.counted,
              .alarming = rule.alarming,
              .rule = rule.rule};
    if (c == CauseClass::asked_later && f.end.at) {
        next.kind = Next::Kind::again_on;
        next.date = *f.end.at;
        return next;
    }
    // What did not run is tried again at once the first time; only a row of them waits.
    const bool did_not_run = c == CauseClass::did_not_run;
    const bool first_unrun = did_not_run && f.counts.did_not_run_in_a_row <= 1;
    if (first_unrun || rule.first_wait == Duration{}) {
        next.kind = Next::Kind::again_now;
        return next;
    }
    // An end that is not counted may be the first of its class and still have a count of zero.
    const auto waits = did_not_run ? f.counts.did_not_run_in_a_row - 1 : judged_by.uses;
    next.kind = Next::Kind::again_after;
    next.wait = jittered(grown(rule, waits > 0 ? waits - 1 : 0), rule.jitter_percent, f.attempt);
    return next;
}

Next ended(JobState state, std::string_view rule) { return {.state = state, .rule = rule}; }

Next quarantined(std::string_view rule, bool may_have_run) {
    return {.state = JobState::quarantined, .may_have_run = may_have_run, .rule = rule};
}

JobState state_of(LastResort then) {
    switch (then) {
        case LastResort::fail: return JobState::failed;
        case LastResort::quarantine: return JobState::quarantined;
        case LastResort::expire: return JobState::expired;
        case LastResort::cancel: return JobState::cancelled;
    }
    return JobState::failed;
}

bool may_not_run_again(const EndFacts& f) {
    if (f.end.ran == Ran::no) return false;
    if (zoo(Bug::once_retried_when_dirty)) return false;
    if (f.effects == Effects::once) return true;
    return f.effects == Effects::resumable && !f.end.clean;
}

}  // namespace

RecoveryDecision decide_recovery(const RunFacts& f) {
    // The order is the rule: the lease first, for without an owner nothing else matters. What has
    // not started has nothing to hold on to: its ask will be refused.
    const bool starting = f.state == JobState::starting;
    const auto release_after = starting ? Duration{} : f.terms.release_after;
    if (is_over(f.lease_deadline + release_after, f.clock)) {
        if (starting && f.recalled) return given_up(f, "O3/not_handed_back");
        return {presumed_end(f), "O3/lease_over"};
    }
    if (starting && is_over(f.confirm_deadline, f.clock)) return after_confirmation(f);
    if (is_over(f.lease_deadline, f.clock)) return {std::nullopt, "O7/owner_lost_within_hold"};
    return {std::nullopt, "O3/owned"};
}

Next decide_next(const EndFacts& f) {
    // Evidence before intent, intent before policy, policy before repetition.
    if (f.end.succeeded) return ended(JobState::succeeded, "E1/succeeded");
    const bool cancelled = f.cancel_requested || f.end.cause == Cause::cancelled;
    if (cancelled && !zoo(Bug::cancel_retried))
        return {.state = JobState::cancelled,
                .may_have_run = f.effects == Effects::once && f.end.ran != Ran::no,
                .rule = "E1/cancelled"};

    const auto c = class_of(f.end);
    const auto judged_by = judgement(f, c);
    const auto& rule = judged_by.rule;
    // What is not counted against the job uses up nothing.
    const bool tries_left =
        !f.end.counted || rule.times == PolicyRule::always || judged_by.uses <= rule.times;
    if (rule.times == 0 || !tries_left) {
        // No policy quarantines what did not run: that is always tried again.
        const auto state = state_of(rule.then);
        return {.state = state, .may_have_run = state == JobState::quarantined, .rule = rule.rule};
    }
    // The policy says "again"; effects guard that answer and no other (E3).
    if (may_not_run_again(f)) {
        if (is_own_exit(f.end.cause)) return ended(JobState::failed, "E3/own_exit");
        return quarantined("P4/may_have_run", true);
    }
    return again(judged_by, c, f);
}

}  // namespace perdure
