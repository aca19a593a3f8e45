// How long a bench waits before it asks again how many jobs have ended. To ask costs what is being
// measured: seldom while there is much left to do, often near the end.
#pragma once

#include <algorithm>
#include <cstddef>

namespace perdure::bench {

inline constexpr double look_again_min_s = 0.005;
inline constexpr double look_again_max_s = 0.1;

inline double look_again_after_s(double elapsed_s, std::size_t ended, std::size_t jobs) {
    if (ended == 0 || ended >= jobs) return look_again_min_s;
    const auto left_s = elapsed_s * static_cast<double>(jobs - ended) / static_cast<double>(ended);
    // Half of what seems to be left: it may go faster from now on.
    return std::clamp(left_s / 2, look_again_min_s, look_again_max_s);
}

}  // namespace perdure::bench
