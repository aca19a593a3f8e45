// After: jobs that wait for others to end (K2), and what they are told (K3).
#include <memory>
#include <set>
#include <utility>

#include "base/probe.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/job_relations.h"
#include "store/engine/apply/moves.h"

namespace perdure::store {
namespace {

bool is_open(const JobRow& waiter) {
    return !waiter.spec->after.empty() && !has_ended(state_of(waiter));
}

AfterDecision decision_of(State& state, const JobRow& job) {
    std::vector<AwaitedFacts> others;
    for (const auto& known : state.relations.facts(job.id)) others.push_back(known.facts);
    return decide_after(others);
}

}  // namespace

void run_end_effects(State& state) {
    while (!state.ended.empty()) {
        state.rows.begin_step();
        JobRow& job = state.job_that_exists(state.ended.front());
        preload_callbacks(state, job);
        state.ended.pop_front();
        make_callbacks(state, job);
        state.rows.begin_step();
        notify_waiters(state, job);
    }
}

std::optional<Error> why_not_after(State& state, const JobSpec& spec,
                                   const EarlierInBatch& earlier) {
    for (const auto& after : spec.after) {
        if (const auto found = earlier.find(after.job); found != earlier.end()) {
            if (found->second != spec.tenant) return other_tenant_in_batch();
            continue;
        }
        const JobRow* other = state.job(after.job);
        if (!other || other->spec->tenant != spec.tenant) return no_such_other(after.job);
        preload_input(state, *other);
    }
    return std::nullopt;
}

void watch(State& state, JobRow& job) {
    if (job.watched == true) return;
    job.watched = true;
    state.touch(job);
}

void begin_waiting(State& state, JobRow& job) {
    std::uint32_t number = 0;
    const auto note = [&](const After& after) {
        JobRow& other = state.job_that_exists(after.job);
        NewAwaited awaited{job.id, number++, after, std::nullopt};
        if (other.in<Outcome>())
            awaited.ended = input_of_ended(state, other);
        else
            watch(state, other);
        state.relations.await(std::move(awaited));
    };
    if (const auto& of = job.spec->callback_of) note({of->job, Trigger::end});
    for (const auto& after : job.spec->after) note(after);
}

bool waits_for_others(State& state, const JobRow& job) {
    if (job.spec->after.empty()) return false;
    const auto decision = decision_of(state, job);
    return decision.kind != AfterDecision::Kind::go_on;
}

void check_waiter(State& state, JobRow& job) {
    if (!is_open(job)) return;
    const auto decision = decision_of(state, job);
    switch (decision.kind) {
        case AfterDecision::Kind::wait: return;
        case AfterDecision::Kind::cancel:
            reached<"after_did_not_hold">();
            return end_waiting(state, job,
                               Outcome{.state = JobState::cancelled,
                                       .cause = Cause::cancelled,
                                       .rule = decision.rule});
        case AfterDecision::Kind::go_on:
            if (!job.in<Wait>()) return;  // a person holds it, or it has gone on
            reached<"waiter_went_on">();
            return move(state, job, first_place(state, job));
    }
}

namespace {

// They, and what decides about each of them, are in memory then.
void preload_waiters(State& state, const JobRow& ended, const std::vector<JobId>& waiters) {
    preload_input(state, ended);
    state.load_jobs(waiters);
    std::vector<const JobRow*> readable;
    std::set<JobId> open;
    for (const auto id : waiters) {
        const auto* waiter = state.readable(id);
        if (!waiter) continue;
        readable.push_back(waiter);
        if (is_open(*waiter)) open.insert(id);
    }
    state.rows.load_facts(open);
    for (const auto id : open) {
        state.at = id;
        state.relations.facts(id);
    }
    preload_permits(state, readable);
}

}  // namespace

void notify_waiters(State& state, const JobRow& ended) {
    if (ended.watched == false) return;
    if (state.room == 0 || state.rows.has_loaded_enough()) return state.debts.owe(ended.id);
    const auto max = state.room;
    const auto waiters = state.relations.waiters(ended.id, max);
    preload_waiters(state, ended, waiters);
    state.spend(waiters.size());
    if (!waiters.empty())
        state.relations.notify({ended.id, input_of_ended(state, ended), waiters.back()});
    if (waiters.size() == max)
        state.debts.owe(ended.id);
    else
        state.debts.pay(ended.id);
    for (const auto id : waiters)
        // One that cannot be understood waits for a person; nobody else does.
        if (auto* waiter = state.readable(id)) check_waiter(state, *waiter);
}

}  // namespace perdure::store
