// Relations: what the end of one job does to others, in the transaction that ends it (K1, K2).
// A move into `outcome` only notes the job; run_end_effects() then works through all that follows,
// one end after the other, so that a chain of any length needs no deeper stack.
#pragma once

#include <map>
#include <optional>

#include "core/job/submit.h"
#include "ports/changes.h"
#include "store/engine/state/state.h"

namespace perdure::store {

// Callbacks are made and waiters told, until nothing has ended that is not settled: one step each.
void run_end_effects(State& state);

// callbacks.cpp
void make_callbacks(State& state, JobRow& job);
// How the job has ended, for those who waited for it.
Input input_of_ended(State& state, const JobRow& job);
// All that make_callbacks() asks for is in memory then; and what input_of_ended() does.
void preload_callbacks(State& state, const JobRow& job);
void preload_input(State& state, const JobRow& job);

// after.cpp. Why `after` cannot be: it names what is neither there nor in `earlier`, or is of
// another tenant.
std::optional<Error> why_not_after(State& state, const JobSpec& spec,
                                   const EarlierInBatch& earlier);
// Its end means something to others.
void watch(State& state, JobRow& job);
// Notes what a new job waits for.
void begin_waiting(State& state, JobRow& job);
bool waits_for_others(State& state, const JobRow& job);
// Lets the job go on, or ends it, if what it waited for says so.
void check_waiter(State& state, JobRow& job);
// Those for whom this group has no room are owed.
void notify_waiters(State& state, const JobRow& ended);

}  // namespace perdure::store
