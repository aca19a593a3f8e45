// When an id was drawn, as far as it tells: to the millisecond, by the clock of the server that
// drew it. Later than that while the clock had been set back, because ids never go back.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace perdure {

WallTime time_of_id(std::uint64_t id);

}  // namespace perdure
