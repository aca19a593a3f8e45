// The timeline of a job: what happened when, as far as it is known, oldest first.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/person_time.h"

namespace perdure::cli {

struct Moment {
    WallTime at;
    std::string_view kind;  // queue, lease, process or recovery
    std::string what;
};

std::vector<Moment> timeline(const boost::json::value& job);
// One line for each, with the time, and how long after the first.
std::string timeline_text(const boost::json::value& job, const UtcOffset& offset);

}  // namespace perdure::cli
