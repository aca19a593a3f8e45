// Lists and counts for people, and the ledger.
#include <algorithm>
#include <map>

#include "core/job/aftermath.h"
#include "core/ownership/presence.h"
#include "ports/ledger_walk.h"
#include "store/memory/views.h"

namespace perdure::store::memory {
namespace {

bool is_wanted_end(const Outcome* outcome, const JobFilter& filter) {
    if (!outcome) return !filter.cause && !filter.ended_before;
    return (!filter.cause || outcome->cause == *filter.cause) &&
           (!filter.ended_before || outcome->ended_on < *filter.ended_before) &&
           !(filter.undealt && outcome->discarded);
}

bool is_wanted(const JobRow& job, const JobFilter& filter) {
    const auto& spec = *job.spec;
    const auto& states = filter.states;
    return spec.tenant == filter.tenant &&
           (states.empty() || std::count(states.begin(), states.end(), state_of(job)) > 0) &&
           (!filter.queue || spec.queue == *filter.queue) &&
           (!filter.kind || spec.kind == *filter.kind) && (!filter.key || spec.key == filter.key) &&
           is_wanted_end(job.in<Outcome>(), filter);
}

bool is_wanted_entry(const Recovery& entry, const RecoveryFilter& filter) {
    std::optional<Cause> cause;
    if (entry.end) cause = entry.end->cause;
    return is_wanted(filter, {entry.detector, entry.incident, cause, entry.on});
}

}  // namespace

JobLine Views::job_line(const JobRow& job) const {
    JobLine line{.id = job.id,
                 .spec = job.spec,
                 .state = state_of(job),
                 .epoch = job.epoch,
                 .generation = job.generation};
    if (const auto* outcome = job.in<Outcome>()) {
        line.cause = outcome->cause;
        line.ended_on = outcome->ended_on;
        line.may_have_run = outcome->may_have_run;
        line.discarded = outcome->discarded;
        const bool doubtful =
            line.state == JobState::quarantined && !job.attempts.empty() &&
            !is_known_dead(job.attempts.back().end, job.attempts.back().late_result);
        if (doubtful)
            line.may_still_run_on = rows_.sessions.at(job.attempts.back().session()).worker;
    }
    if (const auto* run = job.in<Run>()) line.worker = rows_.sessions.at(run->session).worker;
    return line;
}

// Empty if it has left.
std::optional<WorkerLine> Views::worker_line(const SessionRow& session) const {
    const auto& runs = rows_.places.runs_of(session.id);
    WorkerLine line{.session = session.id,
                    .worker = session.worker,
                    .machine = session.directory.machine,
                    .slots = session.slots,
                    .running = static_cast<std::uint32_t>(runs.size()),
                    .offer = session.offer,
                    .silent_for = now() - session.heard_at,
                    .lease_left = session.lease_deadline - now(),
                    .draining = session.draining};
    const auto presence = decide_presence({.heard_at = session.heard_at,
                                           .lease_deadline = session.lease_deadline,
                                           .draining = session.draining,
                                           .running = line.running,
                                           .now = now()},
                                          timing_);
    if (presence.left) return std::nullopt;
    line.suspect = presence.suspect;
    line.deaf = session.hearing.is_deaf();
    return line;
}

JobPage Views::list(const JobFilter& filter) const {
    JobPage page;
    auto it = filter.before ? rows_.jobs.lower_bound(*filter.before) : rows_.jobs.end();
    while (it != rows_.jobs.begin()) {
        const JobRow& job = (--it)->second;
        if (!is_wanted(job, filter)) continue;
        if (page.jobs.size() == filter.limit) {
            page.next = page.jobs.back().id;
            break;
        }
        page.jobs.push_back(job_line(job));
    }
    return page;
}

Overview Views::overview(const std::string& tenant) const {
    Overview overview{.clock = rows_.service.clock};
    std::map<std::string, QueueLine> queues;
    for (const auto& [id, job] : rows_.jobs) {
        if (job.spec->tenant != tenant) continue;
        ++queues[job.spec->queue].jobs[static_cast<std::size_t>(state_of(job))];
    }
    for (const auto& [of, queue] : rows_.paused)
        if (of == tenant) queues[queue].paused = true;
    for (auto& [name, line] : queues) {
        line.queue = name;
        overview.queues.push_back(line);
    }
    for (const auto& [thing, max] : rows_.limits) {
        if (thing.tenant != tenant) continue;
        const auto held = rows_.holders.find(thing);
        const auto taken = held == rows_.holders.end() ? 0 : held->second.size();
        overview.limits.push_back({thing.name, max, static_cast<std::uint32_t>(taken)});
    }
    for (const auto& [id, session] : rows_.sessions) {
        if (!session.open || session.offer.tenant != tenant) continue;
        if (auto line = worker_line(session)) overview.workers.push_back(std::move(*line));
    }
    std::stable_sort(overview.workers.begin(), overview.workers.end(),
                     [](const auto& a, const auto& b) { return a.worker < b.worker; });
    return overview;
}

RecoveryLine Views::recovery_line(const JobRow& job, const Recovery& entry) const {
    RecoveryLine line{.entry = entry};
    const bool again = runs_again(entry.repair);
    const auto follows = [&](const AttemptRow& attempt) {
        return again ? attempt.epoch > entry.attempt.epoch : attempt.epoch == entry.attempt.epoch;
    };
    const bool is_over = !again && !is_brought_back(entry.repair);
    const auto found = std::find_if(job.attempts.begin(), job.attempts.end(), follows);
    if (is_over || found == job.attempts.end()) return line;
    line.epoch_after = found->epoch;
    line.worker_after = rows_.sessions.at(found->session()).worker;
    line.acted_on = again ? found->started_on.value_or(found->claimed_on) : entry.on;
    return line;
}

RecoveryPage Views::recoveries(const RecoveryFilter& filter) const {
    RecoveryPage page;
    const auto before = filter.before.value_or(UINT64_MAX);
    std::uint32_t walked = 0;
    std::uint64_t last = 0;
    // False: the page is full, or enough was looked at.
    const auto add = [&](const Recovery& entry) {
        if (entry.id >= before) return true;
        if (walked++ == ledger_walk_max) {
            page.next = last;
            return false;
        }
        if (is_long_before(filter, entry.on)) return false;
        last = entry.id;
        const JobRow& job = rows_.jobs.at(entry.attempt.job);
        if (job.spec->tenant != filter.tenant || !is_wanted_entry(entry, filter)) return true;
        if (page.recoveries.size() == filter.limit) {
            page.next = page.recoveries.back().entry.id;
            return false;
        }
        page.recoveries.push_back(recovery_line(job, entry));
        return true;
    };
    if (filter.job) {
        const auto found = rows_.ledger_of.find(*filter.job);
        if (found == rows_.ledger_of.end()) return page;
        const auto& own = found->second;
        for (auto it = own.rbegin(); it != own.rend() && add(rows_.ledger.at(*it));) ++it;
        return page;
    }
    for (auto it = rows_.ledger.rbegin(); it != rows_.ledger.rend() && add(it->second);) ++it;
    return page;
}

}  // namespace perdure::store::memory
