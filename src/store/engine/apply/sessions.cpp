// Sessions: opening, renewing, streams (O5, O6).
#include <algorithm>

#include "base/zoo.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/ledger.h"
#include "store/engine/apply/moves.h"

namespace perdure::store {
namespace {

using Inherited = OpenSession::Inherited;

Error no_such_session() { return error(Errc::not_found, "there is no such session"); }
Error session_ended() { return error(Errc::fenced, "the session has ended"); }

const Inherited* inherited_of(const OpenSession& change, AttemptKey attempt) {
    const auto& all = change.inherited;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Inherited& i) { return i.attempt == attempt; });
    return found == all.end() ? nullptr : &*found;
}

// A job of the index of runs, which must be in `run`.
std::pair<JobRow&, const Run&> running_job(State& state, JobId id) {
    JobRow& job = state.job_that_exists(id);
    const auto* run = job.in<Run>();
    if (!run) fail_corrupt("job " + id.text() + " is listed as running");
    return {job, *run};
}

// Whether the row can be understood. One that cannot stays with the session that had it: nobody is
// told of it (Show::session_view), and it must not keep the rest from going over.
bool is_readable(State& state, JobId id) {
    const auto* job = state.readable(id);
    return job && job->in<Run>();
}

// Nothing if what was decided covers exactly the attempts that the previous session has now.
const char* why_not_inherited(State& state, const OpenSession& change) {
    const auto current = state.latest_session(change.directory);
    if (current != change.previous) return "the directory's current session is another one";
    const auto& runs = state.runs_of(current.value_or(SessionId{}));
    std::size_t readable = 0;
    for (const auto& [key, mark] : runs) {
        if (!is_readable(state, key.second)) continue;
        ++readable;
        const auto [job, run] = running_job(state, key.second);
        const auto* inherited = inherited_of(change, {job.id, run.epoch});
        if (!inherited) return "the set of its attempts has changed";
        if (inherited->state != run.state) return "one of its attempts is in another state";
        if (!inherited->end) continue;
        const auto& attempt = *job.attempt(run.epoch);
        const auto* why = why_outdated(state, job, attempt, *inherited->end, inherited->next);
        if (why) return why;
    }
    return readable == change.inherited.size() ? nullptr : "the set of its attempts has changed";
}

void take_over(State& state, JobRow& job, SessionId heir) {
    auto run = *job.in<Run>();
    AttemptRow& attempt = *job.attempt(run.epoch);
    if (zoo(Bug::takeover_raises_epoch)) job.epoch = run.epoch = attempt.epoch = job.epoch.next();
    run.session = heir;
    run.assignment = state.draw_assignment(heir);
    run.recalled = false;  // the new session may start it
    if (run.state == JobState::starting) run.confirm_deadline = state.now() + state.timing.confirm;
    attempt.owners.push_back(heir);
    attempt.assignment = run.assignment;
    move(state, job, run);
}

void inherit(State& state, const OpenSession& change) {
    // A copy, in order of the old assignment numbers: the moves below change the index.
    const auto runs = state.runs_of(change.previous.value_or(SessionId{}));
    for (const auto& [key, mark] : runs) {
        if (!is_readable(state, key.second)) continue;
        const auto [job, run] = running_job(state, key.second);
        const auto epoch = run.epoch;
        const auto& inherited = *inherited_of(change, {job.id, epoch});
        auto seen = change.seen;
        seen.rule = inherited.rule;
        if (inherited.end) {
            end_attempt(state, job, epoch, *inherited.end, inherited.next, seen);
        } else {
            enter(state, job, epoch, run.session, {.seen = seen});
            take_over(state, job, change.session);
        }
    }
}

}  // namespace

ChangeReply apply(State& state, const Renew& change) {
    const SessionRow* known = state.session(change.session);
    if (!known) return no_such_session();
    if (!known->open) return session_ended();
    const auto deadline = std::max(known->lease_deadline, state.now() + change.lease);
    if (zoo(Bug::refused_change_leaves_traces))
        state.change_session(change.session).lease_deadline = deadline;
    if (change.heartbeat <= known->heartbeat)
        return error(Errc::conflict, "a newer heartbeat, or this one, was accepted before");
    SessionRow& session = state.change_session(change.session);
    session.lease_deadline = deadline;
    if (zoo(Bug::renewal_lowers_the_deadline)) session.lease_deadline = state.now() + change.lease;
    session.heard_at = state.now();
    session.heartbeat = change.heartbeat;
    session.content_hash = change.content_hash;
    session.seen = std::max(session.seen, change.seen);
    session.slots = change.slots;
    session.draining = change.draining;
    session.offer = change.offer;
    session.given_up = 0;
    ++session.renewal;
    return {Renewed{session.lease_deadline, session.renewal}};
}

ChangeReply apply(State& state, const OpenSession& change) {
    if (state.session(change.session))
        return error(Errc::conflict, "a session with this id exists");
    if (const char* why = why_not_inherited(state, change)) return error(Errc::conflict, why);

    SessionRow session;
    session.id = change.session;
    session.directory = change.directory;
    session.life = change.life;
    session.worker = change.worker;
    session.slots = change.slots;
    session.offer = change.offer;
    session.policy = change.policy;
    session.lease_deadline = state.now() + change.lease;
    session.heard_at = state.now();
    if (change.previous) {
        SessionRow& previous = state.change_session(*change.previous);
        previous.open = false;
        // Its shims may know a longer lease (L2): what goes over must not be given away before.
        if (!zoo(Bug::takeover_shortens_the_lease))
            session.lease_deadline = std::max(session.lease_deadline, previous.lease_deadline);
    }
    state.add_session(std::move(session));
    inherit(state, change);
    return {Applied{}};
}

ChangeReply apply(State& state, const OpenStream& change) {
    const SessionRow* session = state.session(change.session);
    if (!session) return no_such_session();
    if (!session->open) return session_ended();
    return {StreamOpened{++state.change_session(change.session).stream}};
}

ChangeReply apply(State& state, const EndSession& change) {
    const SessionRow* session = state.session(change.session);
    if (!session) return no_such_session();
    if (session->open) state.change_session(change.session).open = false;
    return {Applied{}};
}

}  // namespace perdure::store
