// What stands in the way of a job, as `why` shows it and `run` says while nothing moves.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "base/time.h"

namespace perdure::cli {

// Three lines at most of one blocker of GET /v1/jobs/ID/why.
std::string blocker_text(const boost::json::value& blocker, WallTime now);
// All of them, without what changes by itself from one look to the next.
std::string blockers_in_short(const boost::json::value& answer);

}  // namespace perdure::cli
