// Times and durations as text, the same in JSON, in queries and on the screen.
//   time      RFC 3339; written in UTC with microseconds: 2026-11-15T09:30:00.250000Z
//   duration  numbers with units d h m s ms us, largest first: 1h30m, 250ms, 0s
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

std::string time_text(WallTime time);
// Any offset, 0 to 6 digits of a second. Empty if it is no time of the years 1970 to 9999.
std::optional<WallTime> time_value(std::string_view text);

std::string duration_text(Duration duration);
// Empty if it is no duration, or does not fit. A plain number is none: it has no unit.
std::optional<Duration> duration_value(std::string_view text);
// Empty if it is negative, not finite or does not fit.
std::optional<Duration> duration_of_seconds(double seconds);

}  // namespace perdure
