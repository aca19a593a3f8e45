#include "store/engine/apply/repairs.h"

namespace perdure::store {

void record_repair(State& state, const JobRow& job, Epoch epoch, SessionId owner,
                   const RepairFacts& facts) {
    const auto decision = decide_repair(facts);
    if (!decision) return;
    auto entry = recovery_of({job.id, epoch}, job.spec->effects, facts, *decision);
    entry.id = ++state.change_service().last_recovery;
    entry.on = state.service.wall;
    if (const auto* session = state.session(owner)) entry.worker = session->worker;
    state.pending.change().ledger.push_back(entry);
    state.recoveries.push_back(std::move(entry));
}

void record_expiry(State& state, const JobRow& job, const WaitDecision& decision,
                   JobState ends_as) {
    auto facts = wait_facts(job);
    facts.now = state.now();
    record_repair(state, job, job.epoch, SessionId{}, expiry_facts(facts, decision, ends_as));
}

}  // namespace perdure::store
