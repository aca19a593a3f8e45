// Callbacks: made by the transaction that ends their job, or by the one that adds them (K1).
#include <algorithm>
#include <memory>

#include "base/probe.h"
#include "base/zoo.h"
#include "core/job/cancel.h"
#include "core/job/submit.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/job_relations.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

// All callbacks of a job, in order of their numbers.
struct Known {
    std::vector<CallbackRule> rules;
    std::vector<std::shared_ptr<const JobSpec>> specs;
};

Known callbacks_of(State& state, const JobRow& job) {
    Known known;
    std::uint32_t number = 0;
    for (const auto& callback : job.spec->callbacks) {
        known.rules.push_back({number++, callback.on});
        known.specs.push_back(callback.spec);
    }
    if (job.watched == false) return known;
    for (const auto& added : state.relations.added(job.id)) {
        if (added.number != number++)
            fail_corrupt("a callback of job " + job.id.text() + " is missing");
        known.rules.push_back({added.number, added.callback.on, added.since_generation});
        known.specs.push_back(added.callback.spec);
    }
    return known;
}

// The store's own number: no server has it, so that nobody draws the same.
JobId draw_id(State& state) {
    IdSource ids(IdSource::server_number_max, state.service.made_id_high_water);
    const JobId id{ids.next(state.service.wall)};
    state.change_service().made_id_high_water = ids.high_water();
    return id;
}

bool was_made(State& state, const CallbackOf& of) {
    if (zoo(Bug::callbacks_without_generation) && of.generation > 1 &&
        was_made(state, {of.job, of.generation - 1, of.number}))
        return true;
    return state.relations.made(of).has_value();
}

void make(State& state, const CallbackOf& of, const JobSpec& callback) {
    if (was_made(state, of)) return;
    reached<"callback_made">();
    auto spec = std::make_shared<const JobSpec>(made_from(callback, of));
    const auto hash = body_hash(*spec);
    const JobId id = draw_id(state);
    state.relations.note_made(of, id);
    make_job(state, {.id = id, .spec = std::move(spec), .body_hash = hash});
}

ChangeReply answer(State& state, const JobRow& job, const AddedRow& row) {
    const CallbackOf of{job.id, row.since_generation, row.number};
    return {CallbackAdded{.number = row.number, .made = state.relations.made(of)}};
}

}  // namespace

void make_callbacks(State& state, JobRow& job) {
    const auto known = callbacks_of(state, job);
    const auto ended_as = state_of(job);
    for (const auto& of : callbacks_made_by(job.id, job.generation, ended_as, known.rules))
        make(state, of, *known.specs[of.number]);
}

void preload_callbacks(State& state, const JobRow& job) {
    const auto known = callbacks_of(state, job);
    for (const auto& rule : known.rules) was_made(state, {job.id, job.generation, rule.number});
    if (!known.rules.empty()) preload_input(state, job);
}

void preload_input(State& state, const JobRow& job) {
    if (job.in<Outcome>() && !job.attempts.empty())
        evidence_of(state.job_rows(), job.id, job.attempts.back());
}

Input input_of_ended(State& state, const JobRow& job) {
    const auto& outcome = *job.in<Outcome>();
    const AttemptEnd* end = nullptr;
    EvidenceRef evidence;
    if (!job.attempts.empty()) {
        const auto& last = job.attempts.back();
        const bool accepted = outcome.rule == rule_accepted;
        if (accepted && last.late_result) end = &*last.late_result;
        if (last.generation == job.generation && last.end) end = &*last.end;
        if (end) evidence = evidence_of(state.job_rows(), job.id, last);
    }
    const std::string_view result = evidence ? std::string_view(evidence->result) : "";
    return input_of({job.id, job.generation, 0}, outcome.state, outcome.cause, end, result);
}

ChangeReply apply(State& state, const AddCallback& change) {
    JobRow* job = state.job(change.job);
    if (!job) return error(Errc::not_found, "there is no such job");
    const auto added = state.relations.added(job->id);
    for (const auto& row : added)
        if (row.id == change.id) return answer(state, *job, row);
    const auto number = job->spec->callbacks.size() + added.size();
    if (number >= callbacks_max) return too_many_callbacks();
    if (auto why = find_undefined_limit(state, *change.callback.spec)) return *why;
    const AddedRow row{change.id, static_cast<std::uint32_t>(number), job->generation,
                       change.callback};
    was_made(state, {job->id, row.since_generation, row.number});
    preload_callbacks(state, *job);
    preload_input(state, *job);
    state.relations.add(job->id, row);
    watch(state, *job);
    if (has_ended(state_of(*job)) && !zoo(Bug::added_callback_lost_at_the_end))
        make_callbacks(state, *job);
    return answer(state, *job, row);
}

}  // namespace perdure::store
