// Times, durations and sizes as people say them. `--json` never goes through here.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace perdure::cli {

// "just now", "3 min ago", "in 2 h".
std::string relative(WallTime then, WallTime now);
// "250 ms", "1.5 s", "3 min 20 s", "2 d 4 h": two units at most.
std::string spoken(Duration duration);
// "17 bytes", "1.5 MiB".
std::string spoken_size(std::uint64_t bytes);

}  // namespace perdure::cli
