// Stopwatch: how long something really took, on the machine's own steady clock.
// Rates are per second of it.
#pragma once

#include <chrono>
#include <cstdint>

namespace perdure {

class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
    double milliseconds() const { return seconds() * 1e3; }
    double rate(std::size_t count) const { return static_cast<double>(count) / seconds(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point began_ = Clock::now();
};

// The date, as servers of the same host see it: microseconds since 1970.
inline std::int64_t wall_us() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace perdure
