// Relations: what the end of one job does to others, in the transaction that ends it (K1, K2).
// A move into `outcome` only notes the job; settle_ends() then works through all that follows, one
// end after the other, so that a chain of any length needs no deeper stack.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/batch.h"
#include "ports/changes.h"
#include "ports/views.h"
#include "tests/contract/reference/state.h"

namespace perdure::reference {

// Callbacks are made and waiters told, until nothing has ended that is not settled.
void settle_ends(State& state);

// callbacks.cpp
void make_callbacks(State& state, JobRow& job);
// How the job has ended, for those who waited for it.
Input input_of_ended(const JobRow& job);

// after.cpp. Why `after` cannot be: it names what is neither there nor in `earlier`, or is of
// another tenant.
std::optional<Error> why_not_after(State& state, const JobSpec& spec,
                                   const EarlierInBatch& earlier);
// Notes what a new job waits for.
void begin_waiting(State& state, JobRow& job);
bool waits_for_others(const JobRow& job);
// Lets the job go on, or ends it, if what it waited for says so.
void look_at_waiter(State& state, JobRow& job);
void tell_waiters(State& state, const JobRow& ended);
// A job that is removed waits for nobody.
void forget_awaited(State& state, const JobRow& job);

std::vector<Input> inputs_of(const JobRow& job);
void show_relations(const JobRow& job, JobView& view);

}  // namespace perdure::reference
