// Records repairs in the ledger, in the transaction that makes them [P5].
#pragma once

#include "core/explain/ledger.h"
#include "store/engine/state/state.h"

namespace perdure::store {

// Records what decide_repair() says is worth it; `owner` is the worker's session, if there was one.
void record_repair(State& state, const JobRow& job, Epoch epoch, SessionId owner,
                   const RepairFacts& facts);
// A job that waited ends by its deadline.
void record_expiry(State& state, const JobRow& job, const WaitDecision& decision, JobState ends_as);

}  // namespace perdure::store
