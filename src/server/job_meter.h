// JobMeter: what became of jobs in this server's life, by queue, added up as it is committed.
// Nothing survives the process: a monitoring system adds up lives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/metrics_text.h"
#include "ports/store.h"

namespace perdure {

class JobMeter {
public:
    // Queues beyond these are counted together: each is some forty lines of every answer.
    static constexpr std::size_t queues_max = 100;
    static constexpr std::string_view other_queues = "_other";  // which no queue can be called

    void committed(const std::vector<JobEvent>& events);
    void append(MetricsText& out) const;

private:
    struct Queue {
        std::map<std::pair<JobState, Cause>, std::uint64_t> ended;
        Histogram waited;
        Histogram ran;
    };
    Queue& queue(const std::string& name);

    std::map<std::string, Queue> queues_;
};

}  // namespace perdure
