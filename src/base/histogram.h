// Histogram: how often something took how long, in fixed bounds. Counting is one step; MetricsText
// prints it.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"

namespace perdure {

class Histogram {
public:
    // Seconds. From a healthy exchange over a lease and a hold to the run of a day.
    static constexpr std::array<double, 16> bounds = {
        0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12, 60, 600, 3'600, 86'400};
    using Counts = std::array<std::uint64_t, bounds.size()>;

    void add(Duration took);
    std::uint64_t count() const { return count_; }
    double seconds() const { return seconds_; }
    const Counts& within() const { return within_; }  // between two bounds: not cumulative

private:
    Counts within_{};
    std::uint64_t count_ = 0;
    double seconds_ = 0;
};

}  // namespace perdure
