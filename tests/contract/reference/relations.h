// Callbacks and `after`: what the end of one job means to others, in the transaction that ends it
// (K1 to K3).
#pragma once

#include "core/job/cancel.h"
#include "core/job/submit.h"
#include "tests/contract/reference/places.h"

namespace perdure::reference {

struct Relations : Places {
    static AfterDecision decide_for(const Job& job) {
        std::vector<AwaitedFacts> others;
        for (const auto& awaited : job.awaited) {
            others.push_back({awaited.after.on, std::nullopt});
            if (awaited.ended) others.back().ended_as = awaited.ended->state;
        }
        return decide_after(others);
    }

    // How a job has ended, as those are told who waited for it.
    static Input input_of_ended(const Job& job) {
        const Attempt* last = job.history.empty() ? nullptr : &job.history.back();
        const AttemptEnd* end = nullptr;
        if (last && job.rule == rule_accepted && last->late_result) end = &*last->late_result;
        if (last && last->generation == job.generation && last->end) end = &*last->end;
        const auto result = end && last->evidence ? last->evidence->result : "";
        return input_of({job.id, job.generation, 0}, job.state, job.cause, end, result);
    }

    // Where a job waits first, or again when a person lets it go.
    void begin_waiting(Job& job) {
        const auto& run_at = job.spec->run_at;
        if (decide_for(job).kind != AfterDecision::Kind::go_on) {
            move(job, JobState::waiting);
            job.queue_deadline = now() + job.spec->timeouts.queue;
        } else if (job.history.empty() && run_at && *run_at > wall) {
            move(job, JobState::scheduled);
            job.date = run_at;
            job.avoid.reset();
        } else {
            line_up(job, false, std::nullopt);
        }
    }

    // K2: it goes on when all others have ended, and is cancelled by the first that does not fit.
    void check_waiter(Job& job) {
        const auto decision = decide_for(job);
        if (has_ended(job.state)) return;
        if (decision.kind == AfterDecision::Kind::cancel)
            end(job, JobState::cancelled, Cause::cancelled, decision.rule);
        if (decision.kind == AfterDecision::Kind::go_on && job.state == JobState::waiting)
            begin_waiting(job);
    }

    void begin_generation(Job& job) const {
        job.presumed_lost = false;
        if (const auto& total = job.spec->timeouts.total) job.total_deadline = now() + *total;
    }

    Job& make_job(const Submit& change) {
        Job& job = jobs[change.id];
        job.id = change.id;
        job.spec = change.spec;
        job.body_hash = change.body_hash;
        job.submitted_at = now();
        job.state = JobState::waiting;
        begin_generation(job);
        // K3: what it waits for, or was made by, is kept with the job itself.
        if (const auto& of = job.spec->callback_of)
            job.awaited.push_back({{of->job, Trigger::end}, {}});
        for (const auto& after : job.spec->after) job.awaited.push_back({after, {}});
        for (auto& [after, end] : job.awaited)
            if (const Job& other = jobs.at(after.job); has_ended(other.state))
                end = input_of_ended(other);
        begin_waiting(job);
        return job;
    }

    static std::optional<JobId> made_by(const Job& job, std::uint32_t generation,
                                        std::uint32_t number) {
        for (const auto& made : job.made)
            if (made.generation == generation && made.number == number) return made.job;
        return std::nullopt;
    }

    // K1: what fits this end becomes a job, unless it has.
    void make_callbacks(Job& job) {
        const auto& own = job.spec->callbacks;
        for (const auto& of : callbacks_made_by(job.id, job.generation, job.state, rules_of(job))) {
            if (made_by(job, of.generation, of.number)) continue;
            const auto& callback = of.number < own.size()
                                       ? own[of.number]
                                       : job.added[of.number - own.size()].callback;
            IdSource ids(IdSource::server_number_max, made_ids);
            const JobId id{ids.next(wall)};
            made_ids = id.value;
            job.made.push_back({of.generation, of.number, id});
            const auto spec = std::make_shared<const JobSpec>(made_from(*callback.spec, of));
            make_job({id, spec, body_hash(*spec)});
        }
    }

    void run_end_effects() {
        for (; !ended.empty(); ended.pop_front()) {
            Job& job = jobs.at(ended.front());
            make_callbacks(job);
            for (auto& [id, waiter] : jobs) {
                bool is_told = false;
                for (auto& [after, end] : waiter.awaited) {
                    if (end || after.job != job.id) continue;
                    end = input_of_ended(job);
                    is_told = true;
                }
                if (is_told) check_waiter(waiter);
            }
        }
    }

    // Also those of its callbacks.
    bool are_limits_defined(const JobSpec& spec) const {
        return std::all_of(spec.limits.begin(), spec.limits.end(),
                           [&](const std::string& limit) {
                               return limits.contains({Permit::Kind::limit, spec.tenant, limit});
                           }) &&
               std::all_of(spec.callbacks.begin(), spec.callbacks.end(),
                           [&](const Callback& c) { return are_limits_defined(*c.spec); });
    }

    ChangeReply apply(const AddCallback& change) {
        Job* job = find_in(jobs, change.job);
        if (!job) return refuse(Errc::not_found);
        const auto known = std::find(job->asked.begin(), job->asked.end(), change.id);
        const auto index = static_cast<std::size_t>(known - job->asked.begin());
        const auto number = static_cast<std::uint32_t>(job->spec->callbacks.size() + index);
        if (known == job->asked.end()) {
            if (number >= callbacks_max || !are_limits_defined(*change.callback.spec))
                return refuse(Errc::invalid);
            job->asked.push_back(change.id);
            job->added.push_back({number, job->generation, change.callback});
            if (has_ended(job->state)) make_callbacks(*job);
        }
        return {CallbackAdded{number, made_by(*job, job->added[index].since_generation, number)}};
    }
};

}  // namespace perdure::reference
