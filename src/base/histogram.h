// Histogram: how often something took how long, in fixed bounds. Counting is one step; the text is
// in the format of Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

class Histogram {
public:
    // Seconds. From a healthy exchange to a lease and a hold.
    static constexpr std::array<double, 14> bounds = {0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25,
                                                      0.5,   1,      2.5,   5,    12,   60,  600};

    void add(Duration took);
    std::uint64_t count() const { return count_; }
    // Appends the samples; `labels` like `detector="lease"`, or nothing.
    void append(std::string& out, std::string_view name, std::string_view labels) const;

private:
    std::array<std::uint64_t, bounds.size()> within_{};  // not cumulative
    std::uint64_t count_ = 0;
    double seconds_ = 0;
};

}  // namespace perdure
