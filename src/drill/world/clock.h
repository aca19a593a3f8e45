// Time as a drill takes it: dates in microseconds, because witnesses, servers and the drill itself
// share the clock of one machine. Waiting ends when a person has pressed Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "testbed/stopwatch.h"

namespace perdure::drill {

using Moment = std::int64_t;  // microseconds since 1970

inline Moment now() { return wall_us(); }
inline double seconds_between(Moment from, Moment to) {
    return static_cast<double>(to - from) / 1e6;
}

// True once somebody has pressed Ctrl-C, or asked this process to end.
bool interrupted();
void catch_interrupts();
void interrupt();

inline Error not_in_time(const std::string& what, double patience_s) {
    return error(Errc::unavailable,
                 "not within " + std::to_string(static_cast<int>(patience_s)) + " s: " + what);
}

// Sleeps at most so long. False: interrupted.
bool pause_for(double seconds);

// Looks again and again until there is something.
template <class T>
Result<T> until(double patience_s, const std::string& what,
                const std::function<std::optional<T>()>& look, double every_s = 0.01) {
    const Stopwatch watch;
    while (watch.seconds() < patience_s) {
        if (auto found = look()) return std::move(*found);
        if (!pause_for(every_s)) return error(Errc::unavailable, "stopped by Ctrl-C");
    }
    return not_in_time(what, patience_s);
}

inline Result<void> until_true(double patience_s, const std::string& what,
                               const std::function<bool()>& look, double every_s = 0.01) {
    const auto asked = [&]() -> std::optional<bool> {
        return look() ? std::optional(true) : std::nullopt;
    };
    const auto seen = until<bool>(patience_s, what, asked, every_s);
    if (!seen) return seen.error();
    return {};
}

}  // namespace perdure::drill
