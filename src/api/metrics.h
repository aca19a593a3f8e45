// Metrics: counters that are kept as things happen; printing them scans nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/histogram.h"
#include "base/metrics_text.h"
#include "base/time.h"

namespace perdure {

class Metrics {
public:
    // One answered request. `route` is the pattern, of which there are few, never the path.
    void answered(std::string_view route, unsigned status, Duration took);

    std::uint64_t connections = 0;           // open now
    std::uint64_t connections_accepted = 0;  // so far
    std::uint64_t connections_refused = 0;   // there were too many
    std::uint64_t accept_failures = 0;       // the system was short of something
    std::uint64_t streams_cut = 0;           // of workers that did not read
    std::uint64_t bytes_in_flight = 0;       // now, of what is counted (C8)
    std::uint64_t bytes_refused = 0;         // times that there was no room
    std::uint64_t unauthenticated = 0;       // requests of callers who are not known
    std::uint64_t forbidden = 0;             // requests of callers who may not
    std::uint64_t jobs_submitted = 0;
    std::uint64_t reports = 0;  // items of workers

    void append(MetricsText& out) const;

private:
    struct Route {
        std::map<unsigned, std::uint64_t> answers;  // by status
        Histogram times;
    };
    std::map<std::string_view, Route> routes_;
};

}  // namespace perdure
