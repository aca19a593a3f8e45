#include "store/engine/apply/debts.h"

#include "base/probe.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/relations.h"

namespace perdure::store {
namespace {

// Whose row cannot be understood stays owed: it waits for a person (C9).
void pay_end(State& state, JobId ended) {
    state.rows.begin_step();
    const auto* job = state.readable(ended);
    if (!job || !job->in<Outcome>()) return state.spend(1);
    reached<"owed_waiters_told">();
    tell_waiters(state, *job);
    settle_ends(state);
}

void pay_thing(State& state, const Debts::OwedThing& owed) {
    reached<"owed_thing_looked_at">();
    state.rows.begin_step();
    look_at_thing(state, owed.thing,
                  {.free = state.holders.free(owed.thing), .behind = owed.behind});
    restore_line(state, owed.thing, owed.behind);
}

}  // namespace

void pay_debts(State& state) {
    if (!state.debts.empty()) state.rows.allow_some();
    // Each once: what it still owes then is the next group's.
    for (auto left = state.debts.size(); left > 0 && state.room > 0; --left) {
        if (const auto thing = state.debts.next_thing()) pay_thing(state, *thing);
        if (state.room == 0) return;
        if (const auto end = state.debts.next_end()) pay_end(state, *end);
    }
}

}  // namespace perdure::store
