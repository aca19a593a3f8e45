// The timeline of a job: what happened when, as far as it is known, oldest first.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/time.h"

namespace perdure::cli {

struct Moment {
    WallTime at;
    std::string what;
};

std::vector<Moment> timeline(const boost::json::value& job);

}  // namespace perdure::cli
