// Heartbeats and sweeps: everything is looked at, and judged by core (O2, O6).
#include <algorithm>

#include "core/presence.h"
#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/ending.h"
#include "tests/contract/reference/history/ledger.h"

namespace perdure::reference {
namespace {

using Reconcile = ReconcileDecision::Kind;

const Listed* find(const std::vector<Listed>& listed, AttemptKey attempt) {
    for (const auto& entry : listed)
        if (entry.attempt == attempt) return &entry;
    return nullptr;
}

bool owns(const State& state, SessionId session, AttemptKey attempt) {
    const auto found = state.jobs.find(attempt.job);
    const auto* run = found == state.jobs.end() ? nullptr : found->second.running(attempt.epoch);
    return run && run->session == session;
}

std::uint64_t highest_id(const State& state) {
    auto highest = std::max(state.id_high_water, state.made_id_high_water);
    for (const auto& [id, row] : state.servers) highest = std::max(highest, row.id_high_water);
    return highest;
}

bool began_in(const State& state, const AttemptRow& attempt, const StateDirectory& directory) {
    return std::any_of(attempt.owners.begin(), attempt.owners.end(), [&](SessionId owner) {
        const auto known = state.sessions.find(owner);
        return known != state.sessions.end() && known->second.directory == directory;
    });
}

StrangersJob facts_of(const State& state, JobId id, const StateDirectory& directory) {
    const auto found = state.jobs.find(id);
    if (found == state.jobs.end()) return {.gone = id.value <= highest_id(state)};
    const JobRow& job = found->second;
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

ReconcileFacts owned_facts(const JobRow& job, const Run& run, const Listed* listed,
                           std::uint64_t seen) {
    const auto& attempt = *job.attempt(run.epoch);
    return {.in_run = true,
            .store_epoch = run.epoch,
            .state = run.state,
            .asks = attempt.terms.asks,
            .clean = attempt.clean,
            .isolation = attempt.terms.isolation,
            .order = run.order,
            .recalled = run.recalled,
            .assignment = run.assignment,
            .listed = listed ? std::optional(*listed) : std::nullopt,
            .seen = seen};
}

void reconcile(State& state, const Heartbeat& change, Sighting seen, HeartbeatTaken& taken) {
    const auto runs = state.places.runs_of(change.session);  // a copy: they move
    for (const auto& [assignment, id] : runs) {
        const JobRow& job = state.jobs.at(id);
        const auto run = *job.in<Run>();
        const AttemptKey key{id, run.epoch};
        const auto decision =
            decide_reconcile(owned_facts(job, run, find(change.attempts, key), change.seen));
        seen.rule = decision.rule;
        if (decision.kind == Reconcile::confirm_start && !apply(state, Start{change.session, key}))
            taken.stop.push_back(key);
        if (decision.kind == Reconcile::did_not_start || decision.kind == Reconcile::lost)
            taken.ended.push_back(give_up(state, key, *decision.end, seen));
        if (decision.kind == Reconcile::resend) taken.resent.push_back({.attempt = key});
        if (decision.kind == Reconcile::kill) taken.kill.push_back({key, *run.order});
        if (decision.kind == Reconcile::recall) taken.recall.push_back(key);
    }
}

RunFacts run_facts(const State& state, const JobRow& job) {
    const auto& run = *job.in<Run>();
    const auto& attempt = *job.attempt(run.epoch);
    const auto& session = state.session_of(run.session);
    return {.state = run.state,
            .terms = attempt.terms,
            .clean = attempt.clean,
            .order = run.order,
            .recalled = run.recalled,
            .heard = !is_silent(session.heard_at, state.clock.now, state.timing),
            .saw_assignment = session.seen >= run.assignment,
            .alone = state.places.runs_of(session.id).size() + session.given_up == 1,
            .lease_deadline = session.lease_deadline,
            .confirm_deadline = run.confirm_deadline,
            .clock = state.clock};
}

void order_back(State& state, JobRow& job) {
    auto run = *job.in<Run>();
    run.recalled = true;
    run.confirm_deadline = state.clock.now + state.timing.recall;
    move(state, job, run);
}

void sweep_attempts(State& state, Swept& swept) {
    for (const auto& [session, runs] : state.places.runs()) {
        for (const auto& [assignment, id] : runs) {
            const JobRow& job = state.jobs.at(id);
            const auto& run = *job.in<Run>();
            const auto decision = decide_recovery(run_facts(state, job));
            if (!decision.end && !decision.order_back) continue;
            const bool silent_start = decision.detector == Detector::confirmation;
            const auto last_sign = silent_start ? job.attempt(run.epoch)->claimed_at
                                                : state.session_of(session).heard_at;
            swept.attempts.push_back({.attempt = {id, run.epoch},
                                      .session = session,
                                      .effects = job.spec->effects,
                                      .decision = decision,
                                      .seen = {.detector = decision.detector,
                                               .rule = decision.rule,
                                               .silent_for = state.clock.now - last_sign},
                                      .end = decision.end});
        }
    }
    for (auto& found : swept.attempts) {
        if (found.end)
            found.next = give_up(state, found.attempt, *found.end, found.seen).next;
        else
            order_back(state, state.jobs.at(found.attempt.job));
    }
}

}  // namespace

std::optional<Strangers> judge_strangers(State& state, const StateDirectory& directory,
                                         const std::vector<Listed>& listed, SessionId owner,
                                         std::uint64_t seen) {
    Strangers strangers;
    for (const auto& entry : listed) {
        const bool is_first = find(listed, entry.attempt) == &entry;
        if (!is_first || owns(state, owner, entry.attempt)) continue;
        const auto facts =
            stranger_facts(facts_of(state, entry.attempt.job, directory), entry, seen);
        const auto decision = decide_reconcile(facts);
        if (decision.kind == Reconcile::store_is_behind) return std::nullopt;
        strangers.emplace_back(entry.attempt, decision);
    }
    std::sort(strangers.begin(), strangers.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return strangers;
}

std::vector<AttemptKey> bring_back(State& state, const Strangers& strangers, SessionId session,
                                   Sighting seen) {
    std::vector<AttemptKey> stopped;
    seen.detector = Detector::heartbeat;
    for (const auto& [attempt, decision] : strangers) {
        seen.rule = decision.rule;
        if (decision.kind == Reconcile::reinstate) reinstate(state, attempt, session, seen);
        if (decision.kind == Reconcile::stop) stopped.push_back(attempt);
    }
    return stopped;
}

ChangeReply apply(State& state, const Heartbeat& change) {
    SessionRow* session = state.session(change.session);
    if (!session) return error(Errc::not_found, "there is no such session");
    HeartbeatTaken taken;
    taken.answer = decide_heartbeat({.session_is_open = session->open,
                                     .last_number = session->heartbeat,
                                     .number = change.number,
                                     .same_content = session->content_hash == change.content_hash})
                       .answer;
    if (taken.answer == HeartbeatAnswer::cloned) session->open = false;
    if (taken.answer == HeartbeatAnswer::session_ended) ++state.fenced;
    if (taken.answer != HeartbeatAnswer::accept) return {taken};
    const auto strangers =
        judge_strangers(state, session->directory, change.attempts, change.session, change.seen);
    taken.store_is_behind = !strangers;
    if (!strangers) return {taken};
    const Sighting seen{.detector = Detector::heartbeat,
                        .silent_for = state.clock.now - session->heard_at};
    session->lease_deadline = std::max(session->lease_deadline, state.clock.now + change.lease);
    session->heard_at = state.clock.now;
    session->heartbeat = change.number;
    session->content_hash = change.content_hash;
    session->seen = std::max(session->seen, change.seen);
    session->slots = change.slots;
    session->draining = change.draining;
    session->offer = change.offer;
    session->given_up = 0;
    ++session->renewal;
    reconcile(state, change, seen, taken);
    const auto stopped = bring_back(state, *strangers, change.session, seen);
    taken.stop.insert(taken.stop.end(), stopped.begin(), stopped.end());
    return {taken};
}

ChangeReply apply(State& state, const Sweep& change) {
    Swept swept{.clock = state.clock};
    sweep_attempts(state, swept);
    for (const auto id : change.waiting) {
        JobRow* job = state.job(id);
        if (!job) continue;
        auto facts = wait_facts(*job);
        facts.now = state.clock.now;
        facts.wall = state.wall;
        const auto decision = decide_wait(facts);
        if (decision.kind == WaitDecision::Kind::wait) continue;
        swept.waiting.push_back({{id, job->epoch}, facts.state, decision});
        end_wait(state, *job, decision);
    }
    return {swept};
}

}  // namespace perdure::reference
