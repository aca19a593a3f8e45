// Discard: a person removes what cannot be understood (C9). Everything that the row kept is freed
// by the transaction that removes it. What can be understood is never removed.
#pragma once

#include "base/result.h"
#include "core/ownership/timing.h"
#include "ports/damage.h"
#include "store/engine/damage_book.h"
#include "store/sqlite/db/connection.h"

namespace perdure::store::sqlite {

// Of a job all rows go, of a session that something runs in only what was wrong: its lease ends.
// The writer's State must be made anew afterwards, whatever is answered.
Result<void> discard(Connection& connection, const Timing& timing, DamageBook& book,
                     const DiscardDamaged& what);

}  // namespace perdure::store::sqlite
