// Time as integers of microseconds, with one type for each of the four clocks (rule T1), so that
// an instant of one can never be compared with an instant of another.
//   WallTime     dates: run_at, schedules. May step in either direction.
//   ServiceTime  durations judged by a server. One row in the store; stands still in an outage.
//   BootTime     a host's CLOCK_BOOTTIME: self-kill, and the intervals a server measures.
//   MonoTime     the shim's CLOCK_MONOTONIC: run and idle timeouts; suspend does not count.
#pragma once

#include <compare>
#include <cstdint>

namespace perdure {

struct Duration {
    std::int64_t us = 0;

    friend constexpr auto operator<=>(Duration, Duration) = default;
    friend constexpr Duration operator+(Duration a, Duration b) { return {a.us + b.us}; }
    friend constexpr Duration operator-(Duration a, Duration b) { return {a.us - b.us}; }
    friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.us * n}; }
    friend constexpr Duration operator/(Duration a, std::int64_t n) { return {a.us / n}; }
    constexpr double seconds() const { return static_cast<double>(us) / 1e6; }
};

constexpr Duration microseconds(std::int64_t n) { return {n}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
constexpr Duration hours(std::int64_t n) { return minutes(n * 60); }
constexpr Duration days(std::int64_t n) { return hours(n * 24); }

template <class Clock>
struct Instant {
    std::int64_t us = 0;

    friend constexpr auto operator<=>(Instant, Instant) = default;
    friend constexpr Instant operator+(Instant t, Duration d) { return {t.us + d.us}; }
    friend constexpr Instant operator-(Instant t, Duration d) { return {t.us - d.us}; }
    friend constexpr Duration operator-(Instant a, Instant b) { return {a.us - b.us}; }
};

using WallTime = Instant<struct WallClock>;
using ServiceTime = Instant<struct ServiceClock>;
using BootTime = Instant<struct BootClock>;
using MonoTime = Instant<struct MonoClock>;

}  // namespace perdure
