// Attempts that a worker lists and its session does not own (O1, O6).
#include <algorithm>

#include "base/probe.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/moves.h"

namespace perdure::store {
namespace {

// A process lives in the directory and the boot that it was started in.
bool began_in(const State& state, const AttemptRow& attempt, const StateDirectory& directory) {
    return std::any_of(attempt.owners.begin(), attempt.owners.end(), [&](SessionId owner) {
        const auto* known = state.session(owner);
        return known && known->directory == directory;
    });
}

StrangersJob facts_of(const State& state, const JobRow& job, const StateDirectory& directory) {
    const auto* outcome = job.in<Outcome>();
    StrangersJob facts{.epoch = job.epoch,
                       .state = state_of(job),
                       .presumed_lost = job.presumed_lost.has_value(),
                       .discarded = outcome && outcome->discarded,
                       .effects = job.spec->effects};
    if (job.attempts.empty()) return facts;
    const auto& newest = job.attempts.back();
    facts.isolation = newest.terms.isolation;
    facts.may_have_begun = !newest.terms.asks || newest.start_committed;
    facts.began_here = began_in(state, newest, directory);
    return facts;
}

StrangersJob unknown(State& state, JobId id) {
    const bool may_have_been = id.value <= highest_id(state);
    if (may_have_been) reached<"listed_attempt_of_a_job_that_is_gone">();
    return {.gone = may_have_been};
}

}  // namespace

std::vector<Stranger> judge_strangers(State& state, const StateDirectory& directory,
                                      const std::vector<const Listed*>& listed,
                                      std::uint64_t seen) {
    std::vector<Stranger> strangers;
    std::vector<const JobRow*> reinstated;
    std::vector<JobId> ids;
    for (const auto* entry : listed) ids.push_back(entry->attempt.job);
    state.load_jobs(ids);
    for (const auto* entry : listed) {
        const auto id = entry->attempt.job;
        const auto job = state.find_job(id);
        if (!job) continue;
        const auto facts = *job ? facts_of(state, **job, directory) : unknown(state, id);
        strangers.push_back(
            {entry->attempt, decide_reconcile(stranger_facts(facts, *entry, seen))});
        if (strangers.back().decision.kind == ReconcileDecision::Kind::reinstate)
            reinstated.push_back(*job);
    }
    preload_permits(state, reinstated);
    return strangers;
}

bool is_store_behind(const std::vector<Stranger>& strangers) {
    return std::any_of(strangers.begin(), strangers.end(), [](const Stranger& stranger) {
        return stranger.decision.kind == ReconcileDecision::Kind::store_is_behind;
    });
}

std::vector<AttemptKey> bring_back(State& state, const std::vector<Stranger>& strangers,
                                   SessionId session, Sighting seen) {
    using Kind = ReconcileDecision::Kind;
    std::vector<AttemptKey> stopped;
    // Also at an opening it is the list that brings it back.
    seen.detector = Detector::heartbeat;
    for (const auto& [attempt, decision] : strangers) {
        seen.rule = decision.rule;
        if (decision.kind == Kind::reinstate) reinstate(state, attempt, session, seen);
        if (decision.kind == Kind::stop) stopped.push_back(attempt);
    }
    return stopped;
}

}  // namespace perdure::store
