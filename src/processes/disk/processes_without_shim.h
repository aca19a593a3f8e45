// Leftovers: processes of attempts whose shim is dead (O8, L2). They are found by the mark in
// their environment, and as children of this process, which is a subreaper: what a dead shim has
// left behind comes to its next living ancestor. Killed through pidfds until none is left.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "processes/disk/state_folder.h"

namespace perdure {

inline constexpr std::string_view attempt_variable = "PERDURE_ATTEMPT=";
inline constexpr std::string_view shim_variable = "PERDURE_SHIM=";

// This process inherits what its shims leave behind.
void become_subreaper();

// Kills every process whose attempt (the name of its directory) is dead in the eyes of the caller,
// what descends from those, and all our children that are no shims. Waits until they are gone, at
// most two seconds [P8]. Returns false if some are still there.
bool kill_leftovers(StateFolder& folder, const std::function<bool(const std::string&)>& is_dead);

// SIGKILL to the shim of that attempt, found by its mark: for one that cannot be spoken to.
void kill_shim(const StateFolder& folder, const std::string& name);
// The same until nobody has the attempt's lock, at most a second. Besides the shim, its child has
// it until that becomes the command: one that a dead shim has left would run on, seen by nobody.
bool clear_shim(const StateFolder& folder, const std::string& name);

}  // namespace perdure
