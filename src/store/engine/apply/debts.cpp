#include "store/engine/apply/debts.h"

#include "base/probe.h"
#include "store/engine/apply/job_relations.h"
#include "store/engine/apply/moves.h"

namespace perdure::store {
namespace {

// Whose row cannot be understood stays owed: it waits for a person (C9).
void pay_end(State& state, JobId ended) {
    state.rows.begin_step();
    const auto* job = state.readable(ended);
    if (!job || !job->in<Outcome>()) return state.spend(1);
    reached<"owed_waiters_told">();
    notify_waiters(state, *job);
    run_end_effects(state);
}

void pay_permit(State& state, const Debts::OwedPermit& owed) {
    reached<"owed_thing_looked_at">();
    state.rows.begin_step();
    preload_permit(state, owed.permit,
                   {.free = state.holders.free(owed.permit), .behind = owed.behind});
    restore_line(state, owed.permit, owed.behind);
}

// What names a job that is there is damaged, and removes nothing of it (C9).
void pay_removal(State& state, JobId job) {
    state.rows.begin_step();
    if (state.rows.has_job(job) && !state.forgotten().contains(job)) return state.spend(1);
    const auto max = state.room;
    const auto found = state.rows.leftovers(job, max);
    state.spend(found + 1);
    if (found > 0) state.pending.change().leftovers.push_back({job, max});
    if (found < max) state.debts.pay_removal(job);
}

}  // namespace

// Nobody may wait for what stands still: kept permits are freed (C4). Each is a step of its own.
void free_what_paused_queues_keep(State& state) {
    while (state.debts.kept_behind() && state.room > 0) {
        const auto& kept = state.lines().kept();
        const auto next = kept.upper_bound(*state.debts.kept_behind());
        if (next == kept.end()) return state.debts.pay_kept();
        const JobId id = *next;
        state.debts.owe_kept(id);
        state.spend(1);
        state.rows.begin_step();
        JobRow* job = state.readable(id);
        const auto* ready = job ? job->in<Ready>() : nullptr;
        if (!ready || !state.is_paused(*job)) continue;
        preload_permits(state, *job);
        move_and_free(state, *job, Ready{ready->entry, std::nullopt});
    }
}

void pay_debts(State& state) {
    if (!state.debts.empty()) state.rows.allow_some();
    free_what_paused_queues_keep(state);
    // Each once: what it still owes then is the next group's.
    for (auto left = state.debts.size(); left > 0 && state.room > 0; --left) {
        if (const auto permit = state.debts.next_permit()) pay_permit(state, *permit);
        if (state.room == 0) return;
        if (const auto end = state.debts.next_end()) pay_end(state, *end);
        if (state.room == 0) return;
        if (const auto removed = state.debts.next_removal()) pay_removal(state, *removed);
    }
}

}  // namespace perdure::store
