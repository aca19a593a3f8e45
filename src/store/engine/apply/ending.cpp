#include "store/engine/apply/ending.h"

#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/zoo.h"
#include "core/policy/custom_policy.h"
#include "core/policy/policy_book.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/repairs.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

bool is_of_this_generation(const JobRow& job, const AttemptRow& attempt) {
    return attempt.generation == job.generation || zoo(Bug::generation_keeps_counts);
}

bool cancel_is_ordered(const JobRow& job) {
    const auto* run = job.in<Run>();
    return run && run->kill_cause == Cause::cancelled;
}

void again_now(State& state, JobRow& job, std::optional<SessionId> avoid) {
    Ready ready{begin_entry(state, job, InLine::first_in_line, avoid), std::nullopt};
    const bool keeps =
        !job.permits.empty() && state.holds_its_permits(job) && !state.is_paused(job);
    if (!keeps) return move_and_free(state, job, ready);
    ready.kept_until = state.now() + state.timing.kept_holders;
    move(state, job, ready);
}

void go_on(State& state, JobRow& job, SessionId last_owner, const AttemptEnd& end,
           const Next& next) {
    std::optional<SessionId> avoid;
    if (next.another_worker) avoid = last_owner;
    switch (next.kind) {
        case Next::Kind::again_now: return again_now(state, job, avoid);
        case Next::Kind::again_after: {
            const auto due = state.now() + next.wait;
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
            if (zoo(Bug::holders_not_freed_on_end)) return move(state, job, outcome);
            return move_and_free(state, job, outcome);
        }
    }
}

}  // namespace

PolicyChoice policy_of(const State& state, const JobRow& job, const AttemptRow& attempt) {
    if (!is_left_to_worker(job.spec->policy)) return job.spec->policy;
    const auto& session = state.session_that_exists(attempt.session());
    return policy_for_attempt(job.spec->policy, session.policy.get());
}

CauseCounts recount(JobReader& rows, const JobRow& job, Epoch before, const PolicyChoice& policy) {
    const Epoch from{before.value > recounted_max ? before.value - recounted_max : 1};
    const auto read = read_history(rows, job, from, before);
    std::vector<const AttemptEnd*> ends;
    const auto add = [&](const AttemptRow& attempt) {
        if (attempt.epoch < from || attempt.epoch >= before) return;
        if (is_of_this_generation(job, attempt))
            ends.push_back(attempt.end ? &*attempt.end : nullptr);
    };
    for (const auto& attempt : read) add(attempt);
    for (const auto& attempt : job.attempts) add(attempt);
    return count_causes(ends, policy);
}

CauseCounts counts_before(JobReader& rows, const JobRow& job, Epoch epoch,
                          const PolicyChoice& policy) {
    const bool is_carried = epoch == job.epoch && job.earlier &&
                            is_of_this_generation(job, job.attempts.back()) &&
                            job.earlier->are_counted_for(fingerprint_of(policy));
    return is_carried ? job.earlier->counts : recount(rows, job, epoch, policy);
}

EarlierAttempts left_to(State& state, JobRow& job, const AttemptRow& next) {
    if (job.attempts.empty()) return {};
    auto& rows = state.job_rows();
    const auto newest = job.attempts.back().epoch;
    EarlierAttempts left;
    if (!job.earlier)
        left.checkpoint = latest_checkpoint(rows, job, newest.next());
    else if (job.attempts.back().checkpoint.is_there())
        left.checkpoint = newest;
    else
        left.checkpoint = job.earlier->checkpoint;
    const auto& last = job.attempts.back();
    if (!is_of_this_generation(job, last)) return left;
    if (job.earlier && last.end && job.earlier->are_counted_for(last.end->policy_fingerprint)) {
        left.counted_by = last.end->policy_fingerprint;
        left.counts = with(job.earlier->counts, *last.end);
        return left;
    }
    const auto policy = policy_of(state, job, next);
    left.counted_by = fingerprint_of(policy);
    left.counts = recount(rows, job, newest.next(), policy);
    return left;
}

Judgement judge(State& state, const JobRow& job, const AttemptRow& attempt, AttemptEnd end,
                const Evidence* evidence) {
    const auto policy = policy_of(state, job, attempt);
    end.clean = attempt.clean;  // what was begun and saved is what was committed (O10)
    end = judged(end, policy, evidence);
    const auto before = counts_before(state.job_rows(), job, attempt.epoch, policy);
    const auto next = decide_next({.end = end,
                                   .policy = policy,
                                   .effects = job.spec->effects,
                                   .counts = with(before, end),
                                   .cancel_requested = cancel_is_ordered(job),
                                   .attempt = {job.id, attempt.epoch}});
    return {end, next, before};
}

void preload_ends(State& state, const std::vector<AttemptKey>& attempts) {
    std::vector<JobId> ids;
    for (const auto& attempt : attempts) ids.push_back(attempt.job);
    state.load_jobs(ids);
    std::vector<const JobRow*> jobs;
    for (const auto& [id, epoch] : attempts) {
        auto* job = state.job(id);
        const auto* attempt = job ? find_attempt(state.job_rows(), *job, epoch) : nullptr;
        if (!attempt) continue;
        counts_before(state.job_rows(), *job, epoch, policy_of(state, *job, *attempt));
        jobs.push_back(job);
    }
    preload_permits(state, jobs);
}

void end_attempt(State& state, JobRow& job, Epoch epoch, const Judgement& judgement,
                 const Sighting& seen) {
    const auto& [end, next, before] = judgement;
    if (before && job.earlier && epoch == job.epoch) {
        job.earlier->counted_by = end.policy_fingerprint;
        job.earlier->counts = *before;
    }
    auto& attempt = *find_attempt(state.job_rows(), job, epoch);
    PERDURE_ASSERT(end.matched == 0 || end.matched <= policy_of(state, job, attempt).rules.size());
    const auto owner = attempt.session();
    const auto& lost = job.presumed_lost;
    const RepairFacts facts{
        .seen = seen, .end = end, .next = next, .presumed_before = lost && lost->epoch == epoch};
    record_repair(state, job, epoch, owner, facts);
    attempt.end = end;
    attempt.ended_on = state.service.wall;
    attempt.rule = next.rule;
    attempt.unsaved = true;
    state.touch(job);
    job.presumed_lost.reset();
    const bool ends = next.kind == Next::Kind::ended;
    if (!end.reported && !ends) job.presumed_lost = {epoch, owner};
    if (zoo(Bug::leaked_slot) && !end.reported)
        ++state.zoo_rows.leaked_slots[place_of(state.session_that_exists(owner).directory)];
    // What a person holds stays held until that person lets it go, or it ends.
    if (job.is_held_by_a_person() && !ends) return;
    go_on(state, job, owner, end, next);
}

bool note_hearing(State& state, SessionId session, HearingFacts::Event event, JobId job) {
    const SessionRow* row = state.session(session);
    if (!row) return false;
    auto decision = decide_hearing(
        {.known = row->hearing, .event = event, .job = job, .now = state.now()}, state.timing);
    // Nearly always nothing is new: then the row need not be written.
    if (decision.hearing == row->hearing) return false;
    state.change_session(session).hearing = std::move(decision.hearing);
    return decision.turned_deaf;
}

}  // namespace perdure::store
