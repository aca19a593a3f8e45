// When a measure gives up, and how often it asks.
#pragma once

#include <algorithm>
#include <cstddef>

#include "testbed/stopwatch.h"

namespace perdure::bench {

class Deadline {
public:
    explicit Deadline(double seconds) : limit_s_(seconds) {}

    double left_s() const { return std::max(0.0, limit_s_ - watch_.seconds()); }
    bool is_over() const { return left_s() <= 0; }
    double limit_s() const { return limit_s_; }

private:
    double limit_s_;
    Stopwatch watch_;
};

// How long a bench waits before it asks again how many jobs have ended. To ask costs what is being
// measured: seldom while there is much left to do, often near the end.
inline constexpr double look_again_min_s = 0.005;
inline constexpr double look_again_max_s = 0.1;

inline double look_again_after_s(double elapsed_s, std::size_t ended, std::size_t jobs) {
    if (ended == 0 || ended >= jobs) return look_again_min_s;
    const auto left_s = elapsed_s * static_cast<double>(jobs - ended) / static_cast<double>(ended);
    // Half of what seems to be left: it may go faster from now on.
    return std::clamp(left_s / 2, look_again_min_s, look_again_max_s);
}

}  // namespace perdure::bench
