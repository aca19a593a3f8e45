// Sessions: opening, renewing, streams (O5, O6).
#include <algorithm>

#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/ending.h"
#include "tests/contract/reference/history/ledger.h"

namespace perdure::reference {
namespace {

Error no_such_session() { return error(Errc::not_found, "there is no such session"); }
Error session_ended() { return error(Errc::fenced, "the session has ended"); }

std::optional<SessionId> open_session_at(const State& state, const StateDirectory& directory) {
    const auto found = state.latest_sessions.find(place_of(directory));
    if (found == state.latest_sessions.end()) return std::nullopt;
    return found->second;
}

using Inherited = OpenSession::Inherited;

const Inherited* inherited_of(const OpenSession& change, AttemptKey attempt) {
    const auto& all = change.inherited;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Inherited& i) { return i.attempt == attempt; });
    return found == all.end() ? nullptr : &*found;
}

// Nothing if what was decided covers exactly the attempts that the previous session has now.
const char* why_not_inherited(State& state, const OpenSession& change) {
    const auto current = open_session_at(state, change.directory);
    if (current != change.previous) return "the directory's current session is another one";
    const auto& runs = state.places.runs_of(current.value_or(SessionId{}));
    if (runs.size() != change.inherited.size()) return "the set of its attempts has changed";
    for (const auto& [assignment, id] : runs) {
        JobRow& job = state.jobs.at(id);
        const auto& run = *job.in<Run>();
        const auto* inherited = inherited_of(change, {id, run.epoch});
        if (!inherited) return "the set of its attempts has changed";
        if (inherited->state != run.state) return "one of its attempts is in another state";
        if (!inherited->end) continue;
        const auto& attempt = *job.attempt(run.epoch);
        const auto* why = why_outdated(state, job, attempt, *inherited->end, inherited->next);
        if (why) return why;
    }
    return nullptr;
}

void take_over(State& state, JobRow& job, SessionRow& heir) {
    auto run = *job.in<Run>();
    AttemptRow& attempt = *job.attempt(run.epoch);
    run.session = heir.id;
    run.assignment = draw_assignment(heir);
    run.recalled = false;  // the new session may start it
    if (run.state == JobState::starting)
        run.confirm_deadline = state.clock.now + state.timing.confirm;
    attempt.owners.push_back(heir.id);
    attempt.assignment = run.assignment;
    move(state, job, run);
}

void inherit(State& state, const OpenSession& change, SessionRow& heir) {
    // A copy, in order of the old assignment numbers: the moves below change the index.
    const auto runs = state.places.runs_of(change.previous.value_or(SessionId{}));
    for (const auto& [assignment, id] : runs) {
        JobRow& job = state.jobs.at(id);
        const auto epoch = job.in<Run>()->epoch;
        const auto& inherited = *inherited_of(change, {id, epoch});
        auto seen = change.seen;
        seen.rule = inherited.rule;
        if (inherited.end) {
            end_attempt(state, job, *job.attempt(epoch), *inherited.end, inherited.next, seen);
        } else {
            enter(state, job, epoch, job.in<Run>()->session, {.seen = seen});
            take_over(state, job, heir);
        }
    }
}

}  // namespace

ChangeReply apply(State& state, const Renew& change) {
    SessionRow* session = state.session(change.session);
    if (!session) return no_such_session();
    if (!session->open) return session_ended();
    if (change.heartbeat <= session->heartbeat)
        return error(Errc::conflict, "a newer heartbeat, or this one, was accepted before");
    session->lease_deadline = std::max(session->lease_deadline, state.clock.now + change.lease);
    session->heard_at = state.clock.now;
    session->heartbeat = change.heartbeat;
    session->content_hash = change.content_hash;
    session->seen = std::max(session->seen, change.seen);
    session->slots = change.slots;
    session->draining = change.draining;
    session->offer = change.offer;
    session->given_up = 0;
    ++session->renewal;
    return {Renewed{session->lease_deadline, session->renewal}};
}

ChangeReply apply(State& state, const OpenSession& change) {
    if (state.session(change.session))
        return error(Errc::conflict, "a session with this id exists");
    if (const char* why = why_not_inherited(state, change)) return error(Errc::conflict, why);

    SessionRow& session = state.sessions[change.session];
    session.id = change.session;
    session.directory = change.directory;
    session.life = change.life;
    session.worker = change.worker;
    session.slots = change.slots;
    session.offer = change.offer;
    session.policy = change.policy;
    session.lease_deadline = state.clock.now + change.lease;
    session.heard_at = state.clock.now;
    if (change.previous) {
        SessionRow& previous = state.sessions.at(*change.previous);
        previous.open = false;
        // Its shims may know a longer lease (L2): what goes over must not be given away before.
        session.lease_deadline = std::max(session.lease_deadline, previous.lease_deadline);
    }
    state.latest_sessions[place_of(change.directory)] = change.session;
    inherit(state, change, session);
    return {Applied{}};
}

ChangeReply apply(State& state, const OpenStream& change) {
    SessionRow* session = state.session(change.session);
    if (!session) return no_such_session();
    if (!session->open) return session_ended();
    return {StreamOpened{++session->stream}};
}

ChangeReply apply(State& state, const EndSession& change) {
    SessionRow* session = state.session(change.session);
    if (!session) return no_such_session();
    if (!session->open) return {Applied{}};
    session->open = false;
    return {Applied{}};
}

}  // namespace perdure::reference
