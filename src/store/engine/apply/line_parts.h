// Parts of lines, with jobs in memory: what claims look for who is first in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/engine/state/state.h"

namespace perdure::store {

// A part of a line, as it was read.
struct LinePart {
    std::vector<QueuePosition> jobs;
    bool is_all = false;      // there is nothing behind them
    bool is_damaged = false;  // a row among them could not be understood
};

// One for each query. Only so many jobs of each are in memory then; of the others is known where
// they are.
std::vector<LinePart> read_lines(State& state, std::vector<LineQuery> queries,
                                 std::uint32_t loaded_max = UINT32_MAX);
LinePart read_line(State& state, ShapeId shape, const std::optional<QueuePosition>& behind,
                   std::uint32_t max);

}  // namespace perdure::store
