// Sessions: opening, renewing, streams (O5, O6).
#include <algorithm>

#include "core/custom_policy.h"
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

void inherit(State& state, const OpenSession& change, SessionId previous, SessionOpened& opened) {
    // A copy, in order of the old assignment numbers: the moves below change the index.
    const auto runs = state.places.runs_of(previous);
    for (const auto& [assignment, id] : runs) {
        JobRow& job = state.jobs.at(id);
        const auto run = *job.in<Run>();
        const AttemptKey key{id, run.epoch};
        auto& attempt = *job.attempt(run.epoch);
        std::optional<Listed> listed;
        for (const auto& entry : change.on_disk)
            if (!listed && entry.attempt == key) listed = entry;
        const auto decision = decide_inherit({.same_boot = opened.opening == Opening::take_over,
                                              .listed = listed,
                                              .state = run.state,
                                              .asks = attempt.terms.asks,
                                              .clean = attempt.clean,
                                              .alone = runs.size() == 1,
                                              .order = run.order});
        auto seen = opened.seen;
        seen.rule = decision.rule;
        if (!decision.end) {
            enter(state, job, run.epoch, run.session, {.seen = seen});
            take_over(state, job, state.sessions.at(opened.session));
            continue;
        }
        const auto policy = policy_of(state, job, attempt);
        const auto end = judged(*decision.end, policy, nullptr);
        const auto next = next_after(job, attempt, end, policy);
        end_attempt(state, job, attempt, end, next, seen);
        opened.ended.push_back({key, next});
    }
}

SessionRow session_of(const State& state, const OpenSession& change, const SessionRow* previous) {
    SessionRow session;
    session.id = change.session;
    session.directory = change.directory;
    session.life = change.life;
    session.worker = change.worker;
    session.slots = change.slots;
    session.offer = change.offer;
    session.policy = change.policy;
    session.lease_deadline = state.clock.now + change.lease;
    session.heard_at = state.clock.now;
    // Its shims may know a longer lease (L2): what goes over must not be given away before.
    if (previous)
        session.lease_deadline = std::max(session.lease_deadline, previous->lease_deadline);
    return session;
}

}  // namespace

ChangeReply apply(State& state, const OpenSession& change) {
    if (state.session(change.session))
        return error(Errc::conflict, "a session with this id exists");
    const auto latest = open_session_at(state, change.directory);
    auto* previous = latest ? state.session(*latest) : nullptr;
    OpeningFacts facts{.has_previous = previous != nullptr, .life = change.life};
    if (previous) {
        facts.same_boot = previous->directory.boot == change.directory.boot;
        facts.previous_life = previous->life;
        facts.previous_heard_at = previous->heard_at;
        facts.clock = state.clock;
    }
    const auto decision = decide_opening(facts, state.timing);
    SessionOpened opened{.session = change.session, .opening = decision.opening};
    if (decision.opening == Opening::repeated) {
        opened.session = previous->id;
        return {opened};
    }
    if (decision.opening == Opening::stale)
        return error(Errc::fenced, "a later life of this state directory has a session");
    if (decision.opening == Opening::clone)
        return error(Errc::conflict, "another machine with this state directory is alive");
    const auto strangers =
        judge_strangers(state, change.directory, change.on_disk, latest.value_or(SessionId{}), 0);
    opened.store_is_behind = !strangers;
    if (!strangers) return {opened};
    if (previous) {
        const bool rebooted = decision.opening == Opening::after_reboot;
        const auto silence = state.clock.now - previous->heard_at;
        opened.seen = {.detector = rebooted ? Detector::reboot : Detector::takeover,
                       .rule = decision.rule,
                       .silent_for = change.away != Duration{} ? change.away : silence,
                       .announced = previous->draining};
        previous->open = false;
    }
    state.sessions.emplace(change.session, session_of(state, change, previous));
    state.latest_sessions[place_of(change.directory)] = change.session;
    inherit(state, change, latest.value_or(SessionId{}), opened);
    bring_back(state, *strangers, change.session, opened.seen);
    return {opened};
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
