#include "store/engine/people_views.h"

#include <algorithm>
#include <utility>

#include "core/job/aftermath.h"
#include "core/ownership/presence.h"
#include "store/engine/failure.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

bool is_wanted_end(const Outcome* outcome, const JobFilter& filter) {
    if (!outcome) return !filter.cause && !filter.ended_before;
    return (!filter.cause || outcome->cause == *filter.cause) &&
           (!filter.ended_before || outcome->ended_on < *filter.ended_before) &&
           !(filter.undealt && outcome->discarded);
}

// Of a quarantined job whose last process is not known to be dead.
std::optional<std::string> worker_in_doubt(const JobRow& job, const WorkerOf& worker_of) {
    if (state_of(job) != JobState::quarantined || job.attempts.empty()) return std::nullopt;
    const auto& last = job.attempts.back();
    if (is_known_dead(last.end, last.late_result)) return std::nullopt;
    return worker_of(last.session()).value_or("a worker that is not known any more");
}

}  // namespace

bool is_wanted(const JobRow& job, const JobFilter& filter) {
    const auto& states = filter.states;
    const bool state =
        states.empty() || std::count(states.begin(), states.end(), state_of(job)) > 0;
    return state && (!filter.key || job.spec->key == filter.key) &&
           is_wanted_end(job.in<Outcome>(), filter);
}

JobLine job_line(const JobRow& job, const WorkerOf& worker_of) {
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
        line.may_still_run_on = worker_in_doubt(job, worker_of);
    }
    if (const auto* run = job.in<Run>()) {
        line.worker = worker_of(run->session);
        if (!line.worker)
            fail_corrupt("it runs in a session that is not there, or cannot be understood");
    }
    return line;
}

std::optional<WorkerLine> worker_line(const SessionRow& session, std::uint32_t running,
                                      ServiceTime now, const Timing& timing) {
    const auto presence = decide_presence({.heard_at = session.heard_at,
                                           .lease_deadline = session.lease_deadline,
                                           .draining = session.draining,
                                           .running = running,
                                           .now = now},
                                          timing);
    if (presence.left) return std::nullopt;
    return WorkerLine{.session = session.id,
                      .worker = session.worker,
                      .machine = session.directory.machine,
                      .slots = session.slots,
                      .running = running,
                      .offer = session.offer,
                      .suspect = presence.suspect,
                      .deaf = session.hearing.is_deaf(),
                      .silent_for = now - session.heard_at,
                      .lease_left = session.lease_deadline - now,
                      .draining = session.draining};
}

RecoveryLine recovery_line(Recovery entry, JobRow& job, JobReader& reader,
                           const WorkerOf& worker_of) {
    RecoveryLine line{.entry = std::move(entry)};
    const bool again = runs_again(line.entry.repair);
    if (!again && !is_brought_back(line.entry.repair)) return line;
    const auto epoch = again ? line.entry.attempt.epoch.next() : line.entry.attempt.epoch;
    if (epoch > job.epoch || epoch == Epoch{}) return line;
    const auto found = attempts_in(reader, job, only(epoch));
    if (found.empty()) return line;
    const auto& attempt = found.front();
    line.epoch_after = attempt.epoch;
    line.worker_after = worker_of(attempt.session()).value_or("");
    line.acted_on = again ? attempt.started_on.value_or(attempt.claimed_on) : line.entry.on;
    return line;
}

SessionNames workers_of(const JobView& job, const WorkerOf& worker_of) {
    SessionNames names;
    const auto add = [&](SessionId session) {
        if (names.contains(session)) return;
        if (auto name = worker_of(session)) names.emplace(session, std::move(*name));
    };
    for (const auto& attempt : job.attempts) add(attempt.session);
    if (job.run) add(job.run->session);
    return names;
}

}  // namespace perdure::store
