// Moves: what every change of a job is made of. A move keeps the one invariant that spans jobs:
//   C4a  While a permit is free, as many jobs of each shape as decide_promotion() says are `ready`
//        and want it, or none of that shape is blocked on it. So a free permit is always offered to
//        somebody, and whoever leaves lets the next ones follow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/engine/state/state.h"

namespace perdure::store {

// A step looks before it leaps (state/group_rows.h): whoever may follow when these jobs are moved,
// and free what they hold, is in memory then.
void preload_permits(State& state, const JobRow& job);
void preload_permits(State& state, const std::vector<const JobRow*>& jobs);
// The job will be blocked itself.
void preload_permits_before_blocking(State& state, const JobRow& job);
// The same for one permit.
struct PermitMoves {
    std::uint32_t free = 0;  // at most so many of it will be
    std::uint32_t jobs = 0;  // so many that hold it or want it are moved, one after the other
    ShapeId behind = 0;      // only the shapes behind this one are looked at
};
void preload_permit(State& state, const Permit& permit, const PermitMoves& moves);

// Moves a job. A job that leaves `ready` without its permits lets the next ones have a look.
void move(State& state, JobRow& job, PlaceRow next);
// Moves a job, frees what it holds and promotes who waited for that.
void move_and_free(State& state, JobRow& job, PlaceRow next);
// Promotes until C4a is true again for this permit, in the shapes behind one, and says whom. The
// shapes for which this group has no room are owed.
std::vector<JobId> restore_line(State& state, const Permit& permit, ShapeId behind = 0);

enum class InLine { at_the_end, first_in_line };
// A new stay in ready, beginning now. `avoid`: who should not get it for a while.
QueueEntry begin_entry(const State& state, const JobRow& job, InLine where,
                       std::optional<SessionId> avoid = std::nullopt);

}  // namespace perdure::store
