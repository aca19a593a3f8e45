// Times as people give and read them: in the time zone of whoever sits there. What a server gets
// and what --json shows is RFC 3339 in UTC.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace perdure::cli {

// How far local time is ahead of UTC at that moment.
using UtcOffset = std::function<Duration(WallTime)>;

// "09:00" (the next one), "today 17:30", "tomorrow 7:30", "monday 8:00", "2026-11-20 09:00", "+2h",
// "noon", "midnight", and RFC 3339 with its own offset. Of a time that comes twice when clocks are
// put back the first is meant. invalid: not understood, passed today, or skipped by the clocks.
Result<WallTime> read_person_time(std::string_view text, WallTime now, const UtcOffset& offset);

// "2026-11-15T13:00:00.250+01:00"; where that is UTC it ends in Z.
std::string local_text(WallTime time, const UtcOffset& offset);

}  // namespace perdure::cli
