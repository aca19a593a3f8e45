// After: jobs that wait for others to end (K2), and what they are told (K3).
#include <memory>

#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/relations/relations.h"

namespace perdure::reference {
namespace {

AfterDecision decide(const JobRow& job) {
    std::vector<AwaitedFacts> others;
    others.reserve(job.awaited.size());
    for (const auto& row : job.awaited) {
        auto& facts = others.emplace_back(AwaitedFacts{.on = row.after.on, .ended_as = {}});
        if (row.ended) facts.ended_as = row.ended->state;
    }
    return decide_after(others);
}

}  // namespace

void settle_ends(State& state) {
    while (!state.ended.empty()) {
        JobRow& job = state.jobs.at(state.ended.front());
        state.ended.pop_front();
        make_callbacks(state, job);
        tell_waiters(state, job);
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
    }
    return std::nullopt;
}

void begin_waiting(State& state, JobRow& job) {
    if (const auto& of = job.spec->callback_of) {
        const auto input = input_of_ended(state.jobs.at(of->job));
        job.awaited.push_back({{of->job, On::end}, input});
    }
    for (const auto& after : job.spec->after) {
        const JobRow& other = state.jobs.at(after.job);
        auto& row = job.awaited.emplace_back(AwaitedRow{after, std::nullopt});
        if (other.in<Outcome>())
            row.ended = input_of_ended(other);
        else
            state.waiters[after.job].insert(job.id);
    }
}

bool waits_for_others(const JobRow& job) { return decide(job).kind != AfterDecision::Kind::go_on; }

void look_at_waiter(State& state, JobRow& job) {
    if (job.awaited.empty() || has_ended(state_of(job))) return;
    const auto decision = decide(job);
    switch (decision.kind) {
        case AfterDecision::Kind::wait: return;
        case AfterDecision::Kind::cancel:
            return end_waiting(state, job,
                               Outcome{.state = JobState::cancelled,
                                       .cause = Cause::cancelled,
                                       .rule = decision.rule});
        case AfterDecision::Kind::go_on:
            if (!job.in<Wait>()) return;  // a person holds it, or it has gone on
            return move(state, job, first_place(state, job));
    }
}

void tell_waiters(State& state, const JobRow& ended) {
    const auto found = state.waiters.find(ended.id);
    if (found == state.waiters.end()) return;
    const auto waiters = std::move(found->second);
    state.waiters.erase(found);
    const auto input = input_of_ended(ended);
    for (const auto id : waiters) {
        JobRow& waiter = state.jobs.at(id);
        for (auto& row : waiter.awaited)
            if (row.after.job == ended.id && !row.ended) row.ended = input;
        look_at_waiter(state, waiter);
    }
}

void forget_awaited(State& state, const JobRow& job) {
    for (const auto& row : job.awaited) {
        const auto found = state.waiters.find(row.after.job);
        if (row.ended || found == state.waiters.end()) continue;
        found->second.erase(job.id);
        if (found->second.empty()) state.waiters.erase(found);
    }
}

std::vector<Input> inputs_of(const JobRow& job) {
    std::vector<Input> inputs;
    for (const auto& row : job.awaited)
        if (row.ended) inputs.push_back(*row.ended);
    return within_limit(std::move(inputs));
}

void show_relations(const JobRow& job, JobView& view) {
    for (const auto& row : job.awaited) view.awaited.push_back({row.after, row.ended});
    auto number = static_cast<std::uint32_t>(job.spec->callbacks.size());
    for (const auto& row : job.added)
        view.added.push_back({number++, row.since_generation, row.callback});
    for (const auto& [key, made] : job.made) view.made.push_back({key.first, key.second, made});
}

}  // namespace perdure::reference
