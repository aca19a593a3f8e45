#include "tests/contract/reference/ending.h"

#include <optional>
#include <vector>

#include "base/assert.h"
#include "core/custom_policy.h"
#include "core/policy_book.h"
#include "tests/contract/reference/history/ledger.h"

namespace perdure::reference {
namespace {

bool is_of_this_generation(const JobRow& job, const AttemptRow& attempt) {
    return attempt.generation == job.generation;
}

bool cancel_is_ordered(const JobRow& job) {
    const auto* run = job.in<Run>();
    return run && run->order == Cause::cancelled;
}

void again_now(State& state, JobRow& job, std::optional<SessionId> avoid) {
    Ready ready{begin_stay(state, job, Entry::first_in_line, avoid)};
    const bool keeps = !job.things.empty() && state.holds_its_things(job) && !state.is_paused(job);
    if (!keeps) return move_and_free(state, job, ready);
    ready.kept_until = state.clock.now + state.timing.kept_holders;
    move(state, job, ready);
}

void go_on(State& state, JobRow& job, SessionId last_owner, const AttemptEnd& end,
           const Next& next) {
    std::optional<SessionId> avoid;
    if (next.another_worker) avoid = last_owner;
    switch (next.kind) {
        case Next::Kind::again_now: return again_now(state, job, avoid);
        case Next::Kind::again_after: {
            const auto due = state.clock.now + next.wait;
            return move_and_free(state, job, Timer{.due = due, .avoid = avoid});
        }
        case Next::Kind::again_on:
            return move_and_free(state, job, Timer{.date = next.date, .avoid = avoid});
        case Next::Kind::ended: {
            const Outcome outcome{.state = next.state,
                                  .cause = end.cause,
                                  .rule = next.rule,
                                  .may_have_run = next.may_have_run};
            PERDURE_ASSERT(has_ended(outcome.state));
            return move_and_free(state, job, outcome);
        }
    }
}

}  // namespace

PolicyChoice policy_of(const State& state, const JobRow& job, const AttemptRow& attempt) {
    if (!is_left_to_worker(job.spec->policy)) return job.spec->policy;
    return policy_for_attempt(job.spec->policy, state.session_of(attempt.session()).policy.get());
}

CauseCounts counts_with(const JobRow& job, Epoch epoch, const AttemptEnd* end,
                        const PolicyChoice& policy) {
    std::vector<const AttemptEnd*> ends;
    ends.reserve(job.attempts.size());
    for (const auto& attempt : job.attempts) {
        if (!is_of_this_generation(job, attempt)) continue;
        if (attempt.epoch != epoch) {
            ends.push_back(attempt.end ? &*attempt.end : nullptr);
        } else if (end) {
            ends.push_back(end);
        }
    }
    return count_causes(ends, policy);
}

Next next_after(const JobRow& job, const AttemptRow& attempt, const AttemptEnd& end,
                const PolicyChoice& policy) {
    return decide_next({.end = end,
                        .policy = policy,
                        .effects = job.spec->effects,
                        .counts = counts_with(job, attempt.epoch, &end, policy),
                        .cancel_requested = cancel_is_ordered(job),
                        .attempt = {job.id, attempt.epoch}});
}

void end_attempt(State& state, JobRow& job, AttemptRow& attempt, const AttemptEnd& end,
                 const Next& next, const Sighting& seen) {
    PERDURE_ASSERT(end.matched <= policy_of(state, job, attempt).rules.size());
    const auto owner = attempt.session();
    const auto& lost = job.presumed_lost;
    const RepairFacts facts{.seen = seen,
                            .end = end,
                            .next = next,
                            .presumed_before = lost && lost->epoch == attempt.epoch};
    enter(state, job, attempt.epoch, owner, facts);
    attempt.end = end;
    attempt.ended_on = state.wall;
    attempt.rule = next.rule;
    job.presumed_lost.reset();
    const bool ends = next.kind == Next::Kind::ended;
    if (!end.reported && !ends) job.presumed_lost = {attempt.epoch, owner};
    // What a person holds stays held until that person lets it go, or it ends.
    if (job.is_held_by_a_person() && !ends) return;
    go_on(state, job, owner, end, next);
}

bool note_hearing(State& state, SessionId session, HearingFacts::Event event, JobId job) {
    SessionRow* row = state.session(session);
    if (!row) return false;
    auto decision = decide_hearing(
        {.known = row->hearing, .event = event, .job = job, .now = state.clock.now}, state.timing);
    row->hearing = std::move(decision.hearing);
    return decision.turned_deaf;
}

}  // namespace perdure::reference
