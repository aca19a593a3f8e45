// The ledger's entries, in the rows of the jobs that they are about.
#pragma once

#include "core/ledger.h"
#include "ports/catalogue.h"
#include "tests/contract/reference/state.h"

namespace perdure::reference {

// Enters what decide_repair() says is worth it; `owner` is the worker's session, if there was one.
void enter(State& state, JobRow& job, Epoch epoch, SessionId owner, const RepairFacts& facts);
// A job that waited ends by its deadline.
void enter_expiry(State& state, JobRow& job, const WaitDecision& decision, JobState ends_as);
// They go with their job.
void forget_entries(State& state, const JobRow& job);

RecoveryPage show_recoveries(const State& state, const RecoveryFilter& filter);

}  // namespace perdure::reference
