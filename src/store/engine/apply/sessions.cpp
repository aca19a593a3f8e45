// Sessions: opening with takeover, streams (O5, O6).
#include <algorithm>

#include "base/zoo.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/listed.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/repairs.h"

namespace perdure::store {
namespace {

Error no_such_session() { return error(Errc::not_found, "there is no such session"); }
Error session_ended() { return error(Errc::fenced, "the session has ended"); }

// A job of the index of runs, which must be in `run`.
std::pair<JobRow&, const Run&> running_job(State& state, JobId id) {
    JobRow& job = state.job_that_exists(id);
    const auto* run = job.in<Run>();
    if (!run) fail_corrupt("job " + id.text() + " is listed as running");
    return {job, *run};
}

// Whether the row can be understood. One that cannot stays with the session that had it: nobody is
// told of it (TableViews::session_view), and it must not keep the rest from going over.
bool is_readable(State& state, JobId id) {
    const auto* job = state.readable(id);
    return job && job->in<Run>();
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

// Attempts of the previous session that can be understood, in order of their numbers.
std::vector<JobId> inheritance(State& state, const SessionRow* previous) {
    std::vector<JobId> jobs;
    if (!previous) return jobs;
    for (const auto& [key, mark] : state.runs_of(previous->id)) jobs.push_back(key.second);
    state.load_jobs(jobs);
    std::erase_if(jobs, [&](JobId id) { return !is_readable(state, id); });
    return jobs;
}

// What may end, or be brought back, is in memory then.
void preload(State& state, const std::vector<JobId>& inherited) {
    std::vector<AttemptKey> attempts;
    for (const auto id : inherited) attempts.push_back({id, running_job(state, id).second.epoch});
    preload_ends(state, attempts);
}

void inherit(State& state, const std::vector<JobId>& inherited, const ListedAttempts& on_disk,
             SessionOpened& opened) {
    const bool same_boot = opened.opening == Opening::take_over;
    for (const auto id : inherited) {
        const auto [job, run] = running_job(state, id);
        const AttemptKey attempt{id, run.epoch};
        const auto& row = *job.attempt(run.epoch);
        const auto* listed = on_disk.find(attempt);
        const auto decision =
            decide_inherit({.same_boot = same_boot,
                            .listed = listed ? std::optional(*listed) : std::nullopt,
                            .state = run.state,
                            .asks = row.terms.asks,
                            .clean = row.clean,
                            .alone = inherited.size() == 1,
                            .kill_cause = run.kill_cause});
        auto seen = opened.seen;
        seen.rule = decision.rule;
        if (decision.end) {
            const auto judgement = judge(state, job, row, *decision.end);
            end_attempt(state, job, attempt.epoch, judgement, seen);
            opened.ended.push_back({attempt, judgement.next});
        } else {
            record_repair(state, job, attempt.epoch, run.session, {.seen = seen});
            take_over(state, job, opened.session);
        }
    }
}

OpeningFacts opening_facts(const State& state, const OpenSession& change,
                           const SessionRow* previous) {
    OpeningFacts facts{.life = change.life};
    if (!previous) return facts;
    facts.has_previous = true;
    facts.same_boot = previous->directory.boot == change.directory.boot;
    facts.previous_life = previous->life;
    facts.previous_heard_at = previous->heard_at;
    facts.clock = state.service.clock;
    return facts;
}

// How the ledger tells the end of the previous session. Service time says how long nothing was
// heard of it; its watchdog, if there is one, knows better when it died.
Sighting seen_at_opening(const State& state, const OpenSession& change, const SessionRow& previous,
                         const OpeningDecision& decision) {
    const bool rebooted = decision.opening == Opening::after_reboot;
    const bool is_known = change.away != Duration{};
    return {.detector = rebooted ? Detector::reboot : Detector::takeover,
            .rule = decision.rule,
            .silent_for = is_known ? change.away : state.now() - previous.heard_at,
            .announced = previous.draining};
}

void add_session(State& state, const OpenSession& change, const SessionRow* previous) {
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
    if (previous) {
        state.change_session(previous->id).open = false;
        // Its shims may know a longer lease (L2): what goes over must not be given away before.
        if (!zoo(Bug::takeover_shortens_the_lease))
            session.lease_deadline = std::max(session.lease_deadline, previous->lease_deadline);
    }
    state.add_session(std::move(session));
}

}  // namespace

ChangeReply apply(State& state, const OpenSession& change) {
    if (state.session(change.session))
        return error(Errc::conflict, "a session with this id exists");
    const auto latest = state.latest_session(change.directory);
    const auto* previous = latest ? state.session(*latest) : nullptr;
    const auto decision = decide_opening(opening_facts(state, change, previous), state.timing);
    SessionOpened opened{.session = change.session, .opening = decision.opening};
    switch (decision.opening) {
        case Opening::repeated: opened.session = previous->id; return {std::move(opened)};
        case Opening::stale:
            return error(Errc::fenced, "a later life of this state directory has a session");
        case Opening::clone:
            return error(Errc::conflict, "another machine with this state directory is alive");
        case Opening::take_over:
        case Opening::after_reboot:
            opened.seen = seen_at_opening(state, change, *previous, decision);
            break;
        case Opening::fresh: break;
    }
    const ListedAttempts on_disk(change.on_disk);
    const auto& owned = state.runs_of(latest.value_or(SessionId{}));
    const auto strangers = judge_strangers(state, change.directory, on_disk.strangers(owned), 0);
    opened.store_is_behind = is_store_behind(strangers);
    if (opened.store_is_behind) return {std::move(opened)};
    const auto inherited = inheritance(state, previous);
    preload(state, inherited);
    add_session(state, change, previous);
    inherit(state, inherited, on_disk, opened);
    bring_back(state, strangers, change.session, opened.seen);
    return {std::move(opened)};
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
