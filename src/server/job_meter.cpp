#include "server/job_meter.h"

namespace perdure {

JobMeter::Queue& JobMeter::queue(const std::string& name) {
    const auto found = queues_.find(name);
    if (found != queues_.end()) return found->second;
    const bool is_room = queues_.size() < queues_max;
    return queues_[is_room ? name : std::string(other_queues)];
}

void JobMeter::committed(const std::vector<JobEvent>& events) {
    for (const auto& [spec, waited, ran, end] : events) {
        auto& counts = queue(spec->queue);
        if (waited) counts.waited.add(*waited);
        if (ran) counts.ran.add(*ran);
        if (end) ++counts.ended[{end->state, end->cause}];
    }
}

void JobMeter::append(MetricsText& out) const {
    using enum MetricType;
    out.family("perdure_jobs_ended_total", counter, "Jobs that have ended.");
    for (const auto& [name, queue] : queues_)
        for (const auto& [end, count] : queue.ended) {
            const auto& [state, cause] = end;
            out.sample({{"queue", name},
                        {"state", to_string(state)},
                        {"cause", state == JobState::succeeded ? "none" : to_string(cause)}},
                       count);
        }
    out.family("perdure_wait_seconds", histogram, "From ready to the claim, of each attempt.");
    for (const auto& [name, queue] : queues_) out.sample({{"queue", name}}, queue.waited);
    out.family("perdure_run_seconds", histogram, "From the claim to the end, of each attempt.");
    for (const auto& [name, queue] : queues_) out.sample({{"queue", name}}, queue.ran);
}

}  // namespace perdure
