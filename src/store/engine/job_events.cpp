#include "store/engine/job_events.h"

#include <optional>
#include <utility>

namespace perdure::store {
namespace {

template <class Row>
const Row* was_in(const JobRow& job) {
    return job.stored ? std::get_if<Row>(&*job.stored) : nullptr;
}

// Empty if the job was not claimed by this group: what was presumed lost and comes back was claimed
// by an earlier one.
std::optional<Duration> waited(const JobRow& job, ServiceTime now) {
    if (!job.in<Run>() || was_in<Run>(job) || job.attempts.empty()) return std::nullopt;
    if (job.attempts.back().claimed_at != now) return std::nullopt;
    const auto* ready = was_in<Ready>(job);
    return now - (ready ? ready->entry.order.since : now);
}

// Empty if no attempt of it has ended that may have run.
std::optional<Duration> ran(const JobRow& job, ServiceTime now) {
    if (!was_in<Run>(job) || job.in<Run>() || job.attempts.empty()) return std::nullopt;
    const auto& attempt = job.attempts.back();
    if (!attempt.end || attempt.end->ran == Ran::no) return std::nullopt;
    return now - attempt.claimed_at;
}

std::optional<JobEvent::End> end(const JobRow& job) {
    const auto* outcome = job.in<Outcome>();
    if (!outcome || was_in<Outcome>(job)) return std::nullopt;
    return JobEvent::End{outcome->state, outcome->cause};
}

}  // namespace

std::vector<JobEvent> events_of(const WriteSet& set, ServiceTime now) {
    std::vector<JobEvent> events;
    events.reserve(set.jobs.size());
    for (const auto* job : set.jobs) {
        JobEvent event{.waited = waited(*job, now), .ran = ran(*job, now), .end = end(*job)};
        if (!event.waited && !event.ran && !event.end) continue;
        event.spec = job->spec;
        events.push_back(std::move(event));
    }
    return events;
}

}  // namespace perdure::store
