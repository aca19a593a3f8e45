// Heartbeats: what one renews, and what becomes of each attempt that its session has or lists (O6).
#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/listed.h"

namespace perdure::store {
namespace {

void renew(State& state, const Heartbeat& change) {
    SessionRow& session = state.change_session(change.session);
    const auto deadline = state.now() + change.lease;
    session.lease_deadline = zoo(Bug::renewal_lowers_the_deadline)
                                 ? deadline
                                 : std::max(session.lease_deadline, deadline);
    session.heard_at = state.now();
    session.heartbeat = change.number;
    session.content_hash = change.content_hash;
    session.seen = std::max(session.seen, change.seen);
    session.slots = change.slots;
    session.draining = change.draining;
    session.offer = change.offer;
    session.given_up = 0;
    ++session.renewal;
}

// Its `clean` is taken from the row, should the attempt end.
ReconcileFacts facts_of(const State::RunMark& mark, const Listed* listed, std::uint64_t seen) {
    const auto& run = mark.run;
    return {.in_run = true,
            .store_epoch = run.epoch,
            .state = run.state,
            .asks = mark.terms.asks,
            .isolation = mark.terms.isolation,
            .kill_cause = run.kill_cause,
            .recalled = run.recalled,
            .assignment = run.assignment,
            .listed = listed ? std::optional(*listed) : std::nullopt,
            .seen = seen};
}

// An attempt of the session about which something is to be done.
struct Difference {
    AttemptKey attempt;
    std::optional<Cause> kill_cause;
    ReconcileDecision decision;
};

std::vector<Difference> differences_of(const State& state, const Heartbeat& change,
                                       const ListedAttempts& listed) {
    std::vector<Difference> found;
    for (const auto& [key, mark] : state.runs_of(change.session)) {
        const AttemptKey attempt{key.second, mark.run.epoch};
        const auto decision = decide_reconcile(facts_of(mark, listed.find(attempt), change.seen));
        if (decision.kind == ReconcileDecision::Kind::nothing) continue;
        // What cannot be understood is left to a person (C9).
        if (state.book.why_isolated(attempt.job)) continue;
        found.push_back({attempt, mark.run.kill_cause, decision});
    }
    return found;
}

// All that carrying them out asks for is in memory then.
void preload(State& state, const std::vector<Difference>& differences) {
    using Kind = ReconcileDecision::Kind;
    if (differences.empty()) return;
    std::vector<AttemptKey> ends;
    std::vector<JobId> jobs;
    for (const auto& [attempt, order, decision] : differences) {
        if (decision.kind == Kind::kill || decision.kind == Kind::recall) continue;
        jobs.push_back(attempt.job);
        if (decision.end) ends.push_back(attempt);
    }
    state.load_jobs(jobs);
    for (const auto& difference : differences)
        if (difference.decision.kind == Kind::resend)
            assignment_of(state, state.job_that_exists(difference.attempt.job));
    for (const auto id : jobs) state.job(id);
    preload_ends(state, ends);
}

void carry_out(State& state, SessionId session, const Difference& difference, Sighting seen,
               HeartbeatTaken& taken) {
    using Kind = ReconcileDecision::Kind;
    const auto& [attempt, order, decision] = difference;
    switch (decision.kind) {
        case Kind::confirm_start:
            if (!apply(state, Start{session, attempt})) taken.stop.push_back(attempt);
            break;
        case Kind::did_not_start:
        case Kind::lost:
            reached<"reconcile_settled_an_unlisted_attempt">();
            seen.rule = decision.rule;
            taken.ended.push_back(give_up(state, attempt, *decision.end, seen));
            break;
        case Kind::resend:
            reached<"assignment_sent_again">();
            taken.resent.push_back(assignment_of(state, state.job_that_exists(attempt.job)));
            break;
        case Kind::kill: taken.kill.push_back({attempt, *order}); break;
        case Kind::recall: taken.recall.push_back(attempt); break;
        case Kind::nothing:
        case Kind::reinstate:
        case Kind::stop:
        case Kind::store_is_behind: break;  // said of strangers only
    }
}

}  // namespace

ChangeReply apply(State& state, const Heartbeat& change) {
    const SessionRow* known = state.session(change.session);
    if (!known) return error(Errc::not_found, "there is no such session");
    const auto decision =
        decide_heartbeat({.session_is_open = known->open,
                          .last_number = known->heartbeat,
                          .number = change.number,
                          .same_content = known->content_hash == change.content_hash});
    if (decision.answer == HeartbeatAnswer::cloned) {
        reached<"cloned_session_ended">();
        state.change_session(change.session).open = false;
    }
    if (zoo(Bug::refused_change_leaves_traces) && known->open)
        state.change_session(change.session).lease_deadline = state.now() + change.lease;
    if (decision.answer == HeartbeatAnswer::session_ended) ++state.change_service().fenced;
    HeartbeatTaken taken{.answer = decision.answer};
    if (decision.answer != HeartbeatAnswer::accept) return {std::move(taken)};

    const ListedAttempts listed(change.attempts);
    const auto strangers = judge_strangers(
        state, known->directory, listed.strangers(state.runs_of(change.session)), change.seen);
    taken.store_is_behind = is_store_behind(strangers);
    if (taken.store_is_behind) return {std::move(taken)};
    const Sighting seen{.detector = Detector::heartbeat,
                        .silent_for = state.now() - known->heard_at};
    const auto differences = differences_of(state, change, listed);
    preload(state, differences);
    renew(state, change);
    for (const auto& difference : differences)
        carry_out(state, change.session, difference, seen, taken);
    auto stopped = bring_back(state, strangers, change.session, seen);
    if (!stopped.empty()) reached<"told_to_stop">();
    taken.stop.insert(taken.stop.end(), stopped.begin(), stopped.end());
    return {std::move(taken)};
}

}  // namespace perdure::store
