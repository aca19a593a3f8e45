// Callbacks: made by the transaction that ends their job, or by the one that adds them (K1).
#include <algorithm>
#include <memory>

#include "core/cancel.h"
#include "core/submit.h"
#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/relations/relations.h"

namespace perdure::reference {
namespace {

std::vector<CallbackRule> rules_of(const JobRow& job) {
    std::vector<CallbackRule> rules;
    std::uint32_t number = 0;
    for (const auto& callback : job.spec->callbacks) rules.push_back({number++, callback.on});
    for (const auto& added : job.added)
        rules.push_back({number++, added.callback.on, added.since_generation});
    return rules;
}

const Callback& callback_of(const JobRow& job, std::uint32_t number) {
    const auto& own = job.spec->callbacks;
    return number < own.size() ? own[number] : job.added[number - own.size()].callback;
}

// The store's own number: no server has it, so that nobody draws the same.
JobId draw_id(State& state) {
    IdSource ids(IdSource::server_number_max, state.made_id_high_water);
    const JobId id{ids.next(state.wall)};
    state.made_id_high_water = ids.high_water();
    return id;
}

bool was_made(const JobRow& job, const CallbackOf& of) {
    return job.made.contains({of.generation, of.number});
}

void make(State& state, JobRow& parent, const CallbackOf& of) {
    if (was_made(parent, of)) return;
    auto spec =
        std::make_shared<const JobSpec>(made_from(*callback_of(parent, of.number).spec, of));
    const auto hash = body_hash(*spec);
    const JobId id = draw_id(state);
    parent.made[{of.generation, of.number}] = id;
    make_job(state, {.id = id, .spec = std::move(spec), .body_hash = hash});
}

}  // namespace

void make_callbacks(State& state, JobRow& job) {
    const auto rules = rules_of(job);
    for (const auto& of : callbacks_made_by(job.id, job.generation, state_of(job), rules))
        make(state, job, of);
}

Input input_of_ended(const JobRow& job) {
    const auto& outcome = *job.in<Outcome>();
    const AttemptEnd* end = nullptr;
    std::string_view result;
    if (!job.attempts.empty()) {
        const auto& last = job.attempts.back();
        const bool accepted = outcome.rule == rule_accepted;
        if (accepted && last.late_result) end = &*last.late_result;
        if (last.generation == job.generation && last.end) end = &*last.end;
        if (end && last.evidence) result = last.evidence->result;
    }
    return input_of({job.id, job.generation, 0}, outcome.state, outcome.cause, end, result);
}

ChangeReply apply(State& state, const AddCallback& change) {
    JobRow* job = state.job(change.job);
    if (!job) return no_such_job();
    const auto first = static_cast<std::uint32_t>(job->spec->callbacks.size());
    const auto known = std::find_if(job->added.begin(), job->added.end(),
                                    [&](const AddedRow& row) { return row.id == change.id; });
    const auto index = static_cast<std::uint32_t>(known - job->added.begin());
    CallbackAdded reply{.number = first + index};
    if (known == job->added.end()) {
        if (first + index >= callbacks_max) return too_many_callbacks();
        if (auto why = why_not_limited(state, *change.callback.spec)) return *why;
        job->added.push_back({change.id, job->generation, change.callback});
        if (has_ended(state_of(*job))) make_callbacks(state, *job);
    }
    const auto made = job->made.find({job->added[index].since_generation, reply.number});
    if (made != job->made.end()) reply.made = made->second;
    return {reply};
}

}  // namespace perdure::reference
