// Policies that clients and workers of a simulation have of their own. None of them goes on for
// ever: a run must come to its end.
#pragma once

#include <cstdint>
#include <vector>

#include "core/policy/policy_book.h"
#include "sim/world/rng.h"

namespace perdure::sim {

// Rules that make sense together; empty if the dice say so, or if they contradict the effects.
std::vector<CustomRule> draw_rules(Rng& rng, Effects effects);

// In some runs some of the workers have a policy of their own.
PolicyBook draw_book(Rng& rng, std::uint32_t workers);

}  // namespace perdure::sim
