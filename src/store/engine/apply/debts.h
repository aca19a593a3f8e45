// Debts: what one group would touch too many rows for is owed and paid in pieces (C8).
#pragma once

#include "store/engine/state/state.h"

namespace perdure::store {

// Pays while the group has room.
// As far as there is room.
void free_what_paused_queues_keep(State& state);
void pay_debts(State& state);

}  // namespace perdure::store
