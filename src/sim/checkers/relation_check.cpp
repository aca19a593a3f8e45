// [P7] What the end of one job means to others, by (job, generation, number).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/checkers/checker.h"

namespace perdure::sim {

// A job runs only after all that it waits for has ended, and as it should.
void Checker::check_awaited(const WitnessedRun& run, const JobView& job) {
    for (const auto& row : job.awaited) {
        const bool fits = row.ended && fires_on(row.after.on, row.ended->state);
        const bool is_parent = job.spec->callback_of && job.spec->callback_of->job == row.after.job;
        if (fits || (is_parent && row.ended)) continue;
        report("P7", fmt::format("{} epoch {} started, and {} {}", job.id.text(),
                                 run.attempt.epoch.value, row.after.job.text(),
                                 row.ended ? "did not end as it should" : "has not ended"));
    }
}

// Every ended generation has made exactly the callbacks that fit.
void Checker::check_made(const JobView& job) {
    std::vector<CallbackOf> made;
    for (const auto& m : job.made) made.push_back({job.id, m.generation, m.number});
    if (made != callbacks_owed(job.id, job.generation, job.state, rules_of(job)))
        report("P7", fmt::format("{} is {} in generation {} and has made {} callbacks, not those "
                                 "that it owes",
                                 job.id.text(), to_string(job.state), job.generation, made.size()));
    const auto added = parts_.history.added.find(job.id);
    if (added == parts_.history.added.end()) return;
    for (const auto number : added->second) {
        const auto is_it = [&](const AddedCallback& a) { return a.number == number; };
        if (std::none_of(job.added.begin(), job.added.end(), is_it))
            report("P7", fmt::format("callback {} of {} was acknowledged and is lost", number,
                                     job.id.text()));
    }
}

void Checker::check_relations(const AuditView& audit) {
    std::map<JobId, const JobView*> jobs;
    for (const auto& job : audit.jobs) jobs[job.id] = &job;
    const std::set<JobId> owed(audit.owed_ends.begin(), audit.owed_ends.end());
    for (const auto id : owed)
        if (!jobs.contains(id) || !has_ended(jobs.at(id)->state))
            report("P7", "the end of " + id.text() + " is still to be told, and it has not ended");
    for (const auto& job : audit.jobs) {
        std::size_t open = 0;
        for (const auto& row : job.awaited) {
            if (row.ended) continue;
            ++open;
            const auto other = jobs.find(row.after.job);
            if (owed.contains(row.after.job)) continue;
            if (other == jobs.end() || has_ended(other->second->state))
                report("P7", fmt::format("{} was not told that {} has ended", job.id.text(),
                                         row.after.job.text()));
        }
        if (job.state == JobState::waiting && open == 0)
            report("P7", job.id.text() + " waits, and all that it waits for has ended");
        for (const auto& m : job.made) {
            const auto callback = jobs.find(m.job);
            const CallbackOf of{job.id, m.generation, m.number};
            if (callback == jobs.end() && may_be_gone(m.job, audit.clock.now)) continue;
            if (callback == jobs.end() || callback->second->spec->callback_of != of)
                report("P7",
                       fmt::format("callback {} of {} does not exist", m.number, job.id.text()));
        }
        check_parent(job, jobs, audit.clock.now);
    }
}

// No callback without the end that made it, and none twice.
void Checker::check_parent(const JobView& job, const std::map<JobId, const JobView*>& jobs,
                           ServiceTime now) {
    const auto& of = job.spec->callback_of;
    if (!of) return;
    const auto parent = jobs.find(of->job);
    if (parent == jobs.end() && may_be_gone(of->job, now)) return;
    const auto is_this = [&](const MadeCallback& m) {
        return m.job == job.id && m.generation == of->generation && m.number == of->number;
    };
    if (parent == jobs.end() ||
        std::none_of(parent->second->made.begin(), parent->second->made.end(), is_this))
        report("P7", fmt::format("{} is a callback of {} that no end has made", job.id.text(),
                                 of->job.text()));
}

}  // namespace perdure::sim
