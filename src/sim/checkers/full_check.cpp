#include <fmt/format.h>

#include <algorithm>

#include "base/probe.h"
#include "core/ownership/claim.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

constexpr auto overdue_max = seconds(5);     // of service time
constexpr auto pruned_within = seconds(90);  // of service time, while nothing is broken

// What was freed has promoted the first of each shape: the others wait behind it.
bool somebody_goes_first(const JobView& job, const AuditView& audit) {
    return std::any_of(audit.jobs.begin(), audit.jobs.end(), [&](const JobView& other) {
        const bool same_shape = other.spec->queue == job.spec->queue &&
                                other.spec->kind == job.spec->kind &&
                                other.spec->tenant == job.spec->tenant;
        if (other.state != JobState::ready || !same_shape) return false;
        const auto permits = permits_of(*other.spec);
        return std::find(permits.begin(), permits.end(), *job.blocked_on) != permits.end();
    });
}

}  // namespace

void Checker::full(const AuditView& audit, const std::map<SessionId, SessionView>& sessions,
                   const std::set<std::uint32_t>& heard) {
    now_ = audit.clock.now;
    for (const auto host : heard) heard_since_.try_emplace(host, parts_.world.now());
    std::erase_if(heard_since_, [&](const auto& entry) { return !heard.contains(entry.first); });
    for (const auto& job : audit.jobs) {
        changed(job);
        check_place(job, audit, sessions);
        if (!parts_.history.may_exist(*job.spec))
            report("P11", job.id.text() + " exists although its submit was refused");
    }
    check_turns();
    check_accepted(audit);
    check_holders(audit);
    check_left_behind(audit);
    check_relations(audit);
    if (audit.repairs > 0) report("C4", "a job was blocked on something free");
}

// [P3] One place, and it has a deadline that is not long over.
void Checker::check_place(const JobView& job, const AuditView& audit,
                          const std::map<SessionId, SessionView>& sessions) {
    const auto stuck = [&](const char* why) {
        report("P3",
               fmt::format("{} is {} and stuck: {}", job.id.text(), to_string(job.state), why));
    };
    const auto late = audit.clock.now - overdue_max;
    const bool in_grace = audit.clock.now < audit.clock.grace_until + overdue_max;
    const bool in_run = place_of(job.state).place == Place::run;
    if (in_run != job.run.has_value()) return stuck("state and place differ");
    switch (place_of(job.state).place) {
        case Place::timer:
            if (!job.due && !job.date) stuck("it has no time");
            if (job.due && *job.due < late) stuck("its time is over");
            break;
        case Place::ready:
        case Place::blocked:
        case Place::wait:
            if (!job.queue_deadline) return stuck("it has no deadline");
            if (*job.queue_deadline < late) stuck("its deadline is over");
            break;
        case Place::run: {
            const auto session = sessions.find(job.run->session);
            if (session == sessions.end()) return stuck("it has no owner");
            const auto ends = session->second.lease_deadline + job.run->terms.release_after;
            if (session->second.lease_deadline < audit.clock.now && audit.clock.now < ends)
                reached<"owner_lost_within_hold">();
            if (ends < late && !in_grace) stuck("its lease is over");
            const bool starting = job.state == JobState::starting;
            if (starting && job.run->confirm_deadline < late && !in_grace)
                stuck("its start was never confirmed");
            break;
        }
        case Place::outcome: break;
    }
}

// [P1] Same key, same job; every accepted job is there.
void Checker::check_accepted(const AuditView& audit) {
    std::set<JobId> stored;
    for (const auto& job : audit.jobs) stored.insert(job.id);
    for (const auto& [key, submit] : parts_.history.submits) {
        if (submit.accepted.size() > 1)
            report("P1", fmt::format("key {} was answered with two jobs", key.key));
        for (const auto id : submit.accepted) {
            if (stored.contains(id)) continue;
            if (!may_be_gone(id, audit.clock.now))
                report("P1", fmt::format("{} was accepted and is lost at {}", id.text(),
                                         describe(id, audit.clock.now)));
            reached<"job_gone_after_its_retention">();
        }
        const auto known = keys_.find(key);
        const bool was_there = known != keys_.end() && may_be_gone(known->second, audit.clock.now);
        if (submit.gone && !was_there)
            report("C5", fmt::format("key {} was called gone, and its job is not", key.key));
    }
}

// Holders and their jobs agree, in both directions (C3).
void Checker::check_holders(const AuditView& audit) {
    std::map<JobId, const JobView*> jobs;
    for (const auto& job : audit.jobs) jobs[job.id] = &job;
    std::map<Permit, std::uint32_t> taken;
    std::set<std::pair<Permit, std::uint32_t>> slots;
    std::set<std::pair<JobId, Permit>> holding;
    for (const auto& holder : audit.holders) {
        ++taken[holder.permit];
        holding.insert({holder.job, holder.permit});
        if (!slots.insert({holder.permit, holder.slot}).second)
            report("C4", "two jobs hold one slot of " + holder.permit.name);
        const auto job = jobs.find(holder.job);
        const bool may_hold =
            job != jobs.end() && (job->second->run || job->second->kept_until.has_value());
        if (!may_hold)
            report("C3", fmt::format("{} holds {} and does not run", holder.job.text(),
                                     holder.permit.name));
    }
    for (const auto& job : audit.jobs) {
        if (job.run)
            for (const auto& permit : permits_of(*job.spec))
                if (!holding.contains({job.id, permit}))
                    report("C3", fmt::format("{} runs without {}", job.id.text(), permit.name));
        if (job.state != JobState::blocked || !job.blocked_on) continue;
        const auto least = parts_.history.most_and_least(*job.blocked_on).second;
        const auto& owed = audit.owed_permits;
        const bool is_owed = std::find(owed.begin(), owed.end(), *job.blocked_on) != owed.end();
        if (taken[*job.blocked_on] < least && !is_owed && !somebody_goes_first(job, audit))
            report("P3", fmt::format("{} waits for {}, which is free", job.id.text(),
                                     job.blocked_on->name));
    }
}

// [P8] A fenced attempt that was given up is told to stop, or kills itself after `hold`.
void Checker::check_left_behind(const AuditView& audit) {
    std::map<JobId, const JobView*> jobs;
    for (const auto& job : audit.jobs) jobs[job.id] = &job;
    const auto& timing = parts_.plan.timing;
    const auto longest = timing.lease + timing.hold + timing.kill_grace + seconds(20);
    for (const auto index : parts_.witness.alive()) {
        const auto& run = parts_.witness.runs()[index];
        const auto ended = ended_.find(run.attempt);
        if (ended == ended_.end() || parts_.is_frozen(run.host)) continue;
        const auto job = jobs.find(run.attempt.job);
        const bool may_run_on = run.spec->effects == Effects::once || run.orphan;
        if (job == jobs.end() || may_run_on) continue;
        check_stale(run, *job->second);
        // Reinstated: its end was taken back.
        if (job->second->run && job->second->run->attempt == run.attempt) continue;
        if (parts_.world.now() - ended->second.at > longest)
            report("P8", fmt::format("{} epoch {} was given up {:.1f} s ago and is alive",
                                     run.attempt.job.text(), run.attempt.epoch.value,
                                     (parts_.world.now() - ended->second.at).seconds()));
    }
}

// [P2] A worker that is heard learns at once what is not its any more.
void Checker::check_stale(const WitnessedRun& run, const JobView& job) {
    const bool its_own = job.run && job.run->attempt == run.attempt;
    const bool may_come_back = job.presumed_lost && job.epoch == run.attempt.epoch;
    const auto heard = heard_since_.find(run.host);
    if (its_own || may_come_back || heard == heard_since_.end()) return;
    const auto known_for = parts_.world.now() - std::max(heard->second, ended_.at(run.attempt).at);
    if (known_for > parts_.plan.timing.heartbeat * 3 + parts_.plan.timing.kill_grace)
        report("P2", fmt::format("{} epoch {} runs on although its worker is heard",
                                 run.attempt.job.text(), run.attempt.epoch.value));
}

// Whether a job may still go on at the end of a run without anybody's fault: because of what it is,
// or because it had to wait for such a one.
bool Checker::may_be_late(const JobView& job, const JobsById& jobs) const {
    const bool never_ends = job.spec->policy.name == PolicyName::forever;
    // A date in the future of a server whose clock was set back.
    const bool dated = job.spec->run_at && parts_.plan.has(Fault::step_wall_clock);
    // A hold that arrived after its author had given up on it: nobody but a person ends that.
    const bool held = job.state == JobState::blocked && !job.blocked_on;
    // It waits for one of those: check_relations() sees to it.
    const bool waits = job.state == JobState::waiting;
    const bool unserved = !parts_.is_served({job.spec->tenant, job.spec->queue, job.spec->kind});
    if (never_ends || dated || held || waits || unserved) return true;
    return std::any_of(job.awaited.begin(), job.awaited.end(), [&](const AwaitedView& row) {
        const auto other = jobs.find(row.after.job);
        return other != jobs.end() && may_be_late(*other->second, jobs);
    });
}

// [P5] Faults have stopped long ago: what can end has ended, and nothing is left behind.
void Checker::finished(const AuditView& audit) {
    JobsById jobs;
    for (const auto& job : audit.jobs) jobs[job.id] = &job;
    for (const auto& job : audit.jobs) {
        const bool too_long =
            parts_.plan.retention_ends && must_be_gone(job.id, audit.clock.now - pruned_within);
        check_output(job);
        if (too_long) report("P5", job.id.text() + " is there long after its retention");
        if (has_ended(job.state) || may_be_late(job, jobs)) continue;
        report("P5", fmt::format("{} is still {} at the end (epoch {}, {} attempts)", job.id.text(),
                                 to_string(job.state), job.epoch.value, job.attempts.size()));
    }
}

bool Checker::too_little_happened() const {
    const auto succeeded = std::count_if(known_.begin(), known_.end(), [](const auto& entry) {
        return entry.second.state == JobState::succeeded;
    });
    return static_cast<std::size_t>(succeeded) < succeeded_least ||
           parts_.history.accepted < accepted_least;
}

}  // namespace perdure::sim
