// The two clocks of a shim (T1): boot time for leases, monotonic time for timeouts.
#pragma once

#include <time.h>

#include "base/time.h"

namespace perdure {

inline std::int64_t read_clock_us(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

inline BootTime shim_boot_now() { return {read_clock_us(CLOCK_BOOTTIME)}; }
inline MonoTime shim_mono_now() { return {read_clock_us(CLOCK_MONOTONIC)}; }

}  // namespace perdure
