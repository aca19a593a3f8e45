// Metrics: counters that are kept as things happen; printing them scans nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

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
    std::uint64_t jobs_submitted = 0;
    std::uint64_t reports = 0;  // items of workers

    // In the text format of Prometheus.
    std::string text() const;

private:
    static constexpr std::array<double, 8> bounds = {0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5};
    struct Times {
        std::array<std::uint64_t, bounds.size()> within{};  // not cumulative
        std::uint64_t count = 0;
        double seconds = 0;
    };
    std::map<std::pair<std::string_view, unsigned>, std::uint64_t> requests_;
    Times times_;
};

}  // namespace perdure
