// One lane of the drill: its site, and its rows one after the other on it. Lanes run side by side,
// each in a thread of its own.
#pragma once

#include <string>
#include <vector>

#include "drill/drill_options.h"
#include "drill/screen.h"
#include "drill/verdict.h"
#include "drill/world/stall_watch.h"

namespace perdure::drill {

struct LaneResult {
    std::vector<Verdict> verdicts;
    std::size_t neighbours = 0;
};

struct LaneContext {
    Lane lane;
    std::string folder;  // the lane's own
    const Options& options;
    Screen& screen;
    const StallWatch& stalls;
};
// A site that cannot be opened is a row that has failed.
LaneResult play_lane(const LaneContext& context, const std::vector<const Row*>& rows);

}  // namespace perdure::drill
