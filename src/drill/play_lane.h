// One lane of the drill: its site, and its rows one after the other on it. Lanes run side by side,
// each in a thread of its own.
#pragma once

#include <string>
#include <vector>

#include "drill/options.h"
#include "drill/screen.h"
#include "drill/verdict.h"

namespace perdure::drill {

struct LaneResult {
    std::vector<Verdict> verdicts;
    std::size_t neighbours = 0;
};

// `folder` is the lane's own. A site that cannot be opened is a row that has failed.
LaneResult play_lane(Lane lane, const std::vector<const Row*>& rows, const std::string& folder,
                     const Options& options, Screen& screen);

}  // namespace perdure::drill
