// What heartbeats, openings and sweeps do to attempts, once it is decided.
#pragma once

#include "core/explain/detector.h"
#include "ports/changes.h"
#include "store/engine/state/state.h"

namespace perdure::store {

// A presumed-lost attempt is alive: back into `run`, epoch unchanged (O1).
void reinstate(State& state, AttemptKey attempt, SessionId session, const Sighting& seen);

// It is in `run`, and ends like this, unless its author's rules see it in another way.
EndedAttempt give_up(State& state, AttemptKey attempt, const AttemptEnd& presumed, Sighting seen);

// It is `starting`. It is given up `Timing::recall` later, unless it starts or is handed back (O3).
void order_back(State& state, AttemptKey attempt);

// What a running job asks for as its attempt (decide_inside): fenced, unless it is that attempt's
// to ask. Nothing if nobody asks as one.
std::optional<Error> why_not_inside(State& state, const std::optional<ByAttempt>& by);

// As its worker is sent it.
Assignment assignment_of(State& state, JobRow& job);

// An attempt that a worker lists and its session does not own, and what is to be done about it.
struct Stranger {
    AttemptKey attempt;
    ReconcileDecision decision;
};
// Looks only. What cannot be understood is left out: nobody is told of it.
std::vector<Stranger> judge_strangers(State& state, const StateDirectory& directory,
                                      const std::vector<const Listed*>& listed, std::uint64_t seen);
bool is_store_behind(const std::vector<Stranger>& strangers);
// Those that come back do; answers those that are to be stopped.
std::vector<AttemptKey> bring_back(State& state, const std::vector<Stranger>& strangers,
                                   SessionId session, Sighting seen);

}  // namespace perdure::store
