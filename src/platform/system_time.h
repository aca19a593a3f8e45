// The clocks of this machine, read now. Only the runtime may: everybody else asks the Clock port.
#pragma once

#include "base/time.h"

namespace perdure {

WallTime wall_now();  // CLOCK_REALTIME: may step in either direction
BootTime boot_now();  // CLOCK_BOOTTIME: never steps; counts suspend

}  // namespace perdure
