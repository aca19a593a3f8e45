// Applies groups of changes to the state, each guarded as ports/changes.h says. Every function
// looks first and writes last: a refusal has touched nothing.
#pragma once

#include "ports/changes.h"
#include "ports/store.h"
#include "tests/contract/reference/state.h"

namespace perdure::reference {

// apply.cpp: servers, and a group as one transaction (C1, L3)
Result<ServerOpened> open_server(State& state, ServerId server, WallTime wall);
Result<GroupReply> commit(State& state, const Group& group);
Result<Settled> settle_unknown(State& state, ServerId server, std::uint64_t fence);

// apply.cpp: the rows that belong to no job
ChangeReply apply(State& state, const Tick& change);
ChangeReply apply(State& state, const TakeKeeper& change);
ChangeReply apply(State& state, const DefineLimit& change);
ChangeReply apply(State& state, const PauseQueue& change);
// judging.cpp
ChangeReply apply(State& state, const Heartbeat& change);
ChangeReply apply(State& state, const Sweep& change);
// sessions.cpp
ChangeReply apply(State& state, const OpenSession& change);
ChangeReply apply(State& state, const OpenStream& change);
ChangeReply apply(State& state, const EndSession& change);
// claim.cpp
ChangeReply apply(State& state, const Claim& change);
// attempts.cpp
ChangeReply apply(State& state, const Start& change);
ChangeReply apply(State& state, const Report& change);
ChangeReply apply(State& state, const Progress& change);
// jobs.cpp
ChangeReply apply(State& state, const Submit& change);
ChangeReply apply(State& state, const SubmitAll& change);
ChangeReply apply(State& state, const Cancel& change);
ChangeReply apply(State& state, const Hold& change);
ChangeReply apply(State& state, const DealWithQuarantined& change);
ChangeReply apply(State& state, const ForgetEnded& change);
// relations/callbacks.cpp
ChangeReply apply(State& state, const AddCallback& change);

// jobs.cpp: where a job is first, or again when a person lets it go.
PlaceRow first_place(const State& state, const JobRow& job);
JobRow& make_job(State& state, const Submit& change);
void end_waiting(State& state, JobRow& job, const Outcome& outcome);
void end_wait(State& state, JobRow& job, const WaitDecision& decision);
// attempts.cpp
void reinstate(State& state, AttemptKey attempt, SessionId session, const Sighting& seen);
EndedAttempt give_up(State& state, AttemptKey attempt, const AttemptEnd& presumed, Sighting seen);
// judging.cpp: attempts that are listed and not owned. Nothing: the store is behind.
using Strangers = std::vector<std::pair<AttemptKey, ReconcileDecision>>;
std::optional<Strangers> judge_strangers(State& state, const StateDirectory& directory,
                                         const std::vector<Listed>& listed, SessionId owner,
                                         std::uint64_t seen);
std::vector<AttemptKey> bring_back(State& state, const Strangers& strangers, SessionId session,
                                   Sighting seen);
// Why this cannot be a job, or a callback of one: a limit that is not defined.
std::optional<Error> why_not_limited(const State& state, const JobSpec& spec);

inline Error no_such_job() { return error(Errc::not_found, "there is no such job"); }

}  // namespace perdure::reference
