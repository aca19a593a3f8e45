#include "platform/system_time.h"

#include <time.h>

#include "base/assert.h"

namespace perdure {
namespace {

std::int64_t read_us(clockid_t clock) {
    timespec now{};
    PERDURE_ASSERT(::clock_gettime(clock, &now) == 0);
    return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

WallTime wall_now() { return {read_us(CLOCK_REALTIME)}; }
BootTime boot_now() { return {read_us(CLOCK_BOOTTIME)}; }

}  // namespace perdure
