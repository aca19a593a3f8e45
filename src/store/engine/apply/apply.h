// Applies groups of changes, each guarded as ports/changes.h says. Every function looks first and
// writes last: a refusal has touched nothing. What the tables or a stored row refuse is a Failure:
// the caller rolls back and throws the State away.
#pragma once

#include <cstddef>
#include <map>

#include "core/ownership/unwritten.h"
#include "ports/changes.h"
#include "ports/store.h"
#include "store/engine/state/state.h"

namespace perdure::store {

// group.cpp: servers, and a group as one transaction (C1, L3)
Result<ServerOpened> open_server(State& state, ServerId server, WallTime wall);
// Changes of a group, by index, that met a row which cannot be understood, and what they are told.
using GivenUp = std::map<std::size_t, Error>;
// Applies all but those given up. A Failure may add one to them, or isolate a job: who then begins
// again, with a new State, gets further.
Result<GroupReply> commit(State& state, const Group& group, GivenUp& given_up);
// plan.cpp: adds what the changes from this one on will ask the tables for, as far as what is in
// memory tells.
void plan(State& state, const Group& group, std::size_t from, Wanted& wanted);
// unwritten.cpp: whether this group may be carried out in memory alone (T4).
UnwrittenDecision check_idleness(State& state, const Group& group);
// It consists of ticks and of renewals that say nothing new.
bool says_nothing_new(State& state, const Group& group);
// All that was, is written now, as a transaction of its own.
void write_unwritten(State& state);
Result<LastGroup> resolve_unknown(State& state, ServerId server, std::uint64_t fence);

// group.cpp: the rows that belong to no job
ChangeReply apply(State& state, const Tick& change);
ChangeReply apply(State& state, const TakeKeeper& change);
ChangeReply apply(State& state, const DefineLimit& change);
ChangeReply apply(State& state, const PauseQueue& change);
// heartbeat.cpp
ChangeReply apply(State& state, const Heartbeat& change);
// sweep.cpp
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
ChangeReply apply(State& state, const ForgetEnded& change);
bool is_anything_to_forget(State& state, ServiceTime now);
// people.cpp
ChangeReply apply(State& state, const Cancel& change);
ChangeReply apply(State& state, const Hold& change);
ChangeReply apply(State& state, const DealWithQuarantined& change);
// callbacks.cpp
ChangeReply apply(State& state, const AddCallback& change);

inline Error no_such_job() { return error(Errc::not_found, "there is no such job"); }
inline Error not_possible(std::string_view why) { return error(Errc::conflict, std::string(why)); }
// Where a job is first, or again when a person lets it go.
PlaceRow first_place(State& state, const JobRow& job);
JobRow& make_job(State& state, const Submit& change);
// Why this cannot be a job, or a callback of one: a limit that is not defined.
std::optional<Error> find_undefined_limit(const State& state, const JobSpec& spec);
void begin_generation(State& state, JobRow& job);
void end_waiting(State& state, JobRow& job, const Outcome& outcome);
// An instant of its own has come: what was decided then.
void end_wait(State& state, JobRow& job, const WaitDecision& decision);
// No id above it was ever drawn.
std::uint64_t highest_id(const State& state);
void order_kill(State& state, JobRow& job, Cause cause);

}  // namespace perdure::store
