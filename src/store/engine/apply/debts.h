// Debts: what one group would touch too many rows for is owed and paid in pieces (C8).
#pragma once

#include "store/engine/state/state.h"

namespace perdure::store {

// Pays while the group has room.
void pay_debts(State& state);

}  // namespace perdure::store
