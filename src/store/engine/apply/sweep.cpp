// Sweeps: what is overdue, judged and carried out in one transaction (O2, E5, C4).
#include <algorithm>
#include <utility>

#include "base/zoo.h"
#include "core/ownership/presence.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/repairs.h"

namespace perdure::store {
namespace {

constexpr std::size_t attempts_max = 1'000;  // that one sweep ends

// The bug: it judges by the leases that the last sweep saw.
ServiceTime lease_of(State& state, const SessionRow& session) {
    if (!zoo(Bug::sweep_applied_after_a_renewal)) return session.lease_deadline;
    const auto known = state.zoo_rows.swept_leases.try_emplace(session.id, session.lease_deadline);
    return std::exchange(known.first->second, session.lease_deadline);
}

// Attempts in `run` whose lease or confirmation is over, from one look at all of them.
class Overdue {
public:
    Overdue(State& state, bool tells_all) : state_(state), tells_all_(tells_all) {}

    std::vector<Swept::Attempt> find();
    bool is_full() const { return is_full_; }

private:
    void judge_session(const SessionRow& session);
    RunFacts facts_of(const SessionRow& session, const State::RunMark& mark) const;
    void judge(const SessionRow& session, AttemptKey attempt, const State::RunMark& mark);

    State& state_;
    bool tells_all_;  // also those for which it is too early
    ServiceTime lease_;
    std::size_t runs_ = 0;  // of the session that is looked at
    bool is_full_ = false;
    std::vector<Swept::Attempt> found_;
};

RunFacts Overdue::facts_of(const SessionRow& session, const State::RunMark& mark) const {
    const auto& run = mark.run;
    return {.state = run.state,
            .terms = mark.terms,
            .kill_cause = run.kill_cause,
            .recalled = run.recalled,
            .heard = !is_silent(session.heard_at, state_.now(), state_.timing),
            .saw_assignment = session.seen >= run.assignment,
            .alone = runs_ + session.given_up == 1,
            .lease_deadline = lease_,
            .confirm_deadline = run.confirm_deadline,
            .clock = state_.service.clock};
}

void Overdue::judge(const SessionRow& session, AttemptKey attempt, const State::RunMark& mark) {
    const auto facts = facts_of(session, mark);
    auto decision = decide_recovery(facts);
    const bool acts = decision.end || decision.order_back;
    const bool is_lost = facts.state == JobState::running && facts.lease_deadline <= state_.now();
    if (!acts && !(tells_all_ && is_lost)) return;
    if (state_.book.why_isolated(attempt.job)) return;  // it waits for a person (C9)
    is_full_ = found_.size() == attempts_max;
    if (is_full_) return;
    const bool silent_start = decision.detector == Detector::confirmation;
    const auto last_sign = silent_start ? mark.claimed_at : session.heard_at;
    const Sighting seen{.detector = decision.detector,
                        .rule = decision.rule,
                        .silent_for = state_.now() - last_sign};
    found_.push_back({.attempt = attempt,
                      .session = session.id,
                      .effects = mark.terms.effects,
                      .decision = decision,
                      .seen = seen,
                      .end = decision.end});
}

void Overdue::judge_session(const SessionRow& session) {
    lease_ = lease_of(state_, session);
    if (state_.now() < lease_ && !state_.has_unconfirmed_start(session.id)) return;
    const auto& runs = state_.runs_of(session.id);
    runs_ = runs.size();
    for (const auto& [key, mark] : runs) {
        if (is_full_) return;
        judge(session, {key.second, mark.run.epoch}, mark);
    }
}

std::vector<Swept::Attempt> Overdue::find() {
    for (const auto& [id, runs] : state_.runs()) {
        // Nobody knows when its lease ends: what runs there waits for a person (C9).
        const auto* session = state_.session(id);
        if (session && !is_full_) judge_session(*session);
    }
    return std::move(found_);
}

// All that this sweep may ask for is in memory then.
void preload(State& state, const Sweep& change, const std::vector<Swept::Attempt>& attempts) {
    std::vector<AttemptKey> ends;
    for (const auto& swept : attempts)
        if (swept.end || swept.decision.order_back) ends.push_back(swept.attempt);
    preload_ends(state, ends);
    state.load_jobs(change.waiting);
    std::vector<const JobRow*> moved;
    for (const auto id : change.waiting)
        if (const auto* job = state.find_job(id).value_or(nullptr)) moved.push_back(job);
    if (change.report_only) return;
    for (const auto& attempt : ends)
        if (const auto* job = state.job(attempt.job)) moved.push_back(job);
    preload_permits(state, moved);
    for (const auto& permit : change.permits) {
        const auto jobs = std::count_if(moved.begin(), moved.end(), [&](const JobRow* job) {
            return std::count(job->permits.begin(), job->permits.end(), permit) > 0;
        });
        preload_permit(
            state, permit,
            {.free = state.holders.max(permit), .jobs = static_cast<std::uint32_t>(jobs)});
    }
}

void carry_out(State& state, Swept::Attempt& swept) {
    if (swept.decision.order_back) return order_back(state, swept.attempt);
    if (!swept.end) return;
    swept.next = give_up(state, swept.attempt, *swept.end, swept.seen).next;
}

// What would become of it.
void fill_report(State& state, Swept::Attempt& swept) {
    if (!swept.end) return;
    JobRow& job = state.job_that_exists(swept.attempt.job);
    const auto judgement = judge(state, job, *job.attempt(swept.attempt.epoch), *swept.end);
    swept.end = judgement.end;
    swept.next = judgement.next;
}

std::optional<Swept::Waiting> judge_waiting(const State& state, const JobRow& job) {
    auto facts = wait_facts(job);
    facts.now = state.now();
    facts.wall = state.service.wall;
    // The bug: whatever is named is taken for overdue.
    if (zoo(Bug::move_waiting_unchecked)) facts.queue_deadline = facts.now;
    const auto decision = decide_wait(facts);
    if (decision.kind == WaitDecision::Kind::wait) return std::nullopt;
    return Swept::Waiting{{job.id, job.epoch}, facts.state, decision};
}

// Only a bug of ours has left it free.
bool promote(State& state, const Permit& permit) {
    const Sighting seen{.detector = Detector::promotion, .rule = "C4/overlooked"};
    if (permit.kind == Permit::Kind::limit && !state.holders.is_defined(permit)) return false;
    if (state.debts.owes(permit)) return false;  // it is on its way
    const auto promoted = restore_line(state, permit);
    for (const auto id : promoted) {
        const auto& job = state.job_that_exists(id);
        record_repair(state, job, job.epoch, SessionId{}, {.seen = seen});
        ++state.change_service().repairs;
    }
    return !promoted.empty();
}

}  // namespace

ChangeReply apply(State& state, const Sweep& change) {
    Swept swept{.clock = state.service.clock};
    Overdue overdue(state, change.report_only);
    swept.attempts = overdue.find();
    swept.unfinished = overdue.is_full();
    preload(state, change, swept.attempts);
    for (auto& attempt : swept.attempts)
        change.report_only ? fill_report(state, attempt) : carry_out(state, attempt);
    for (const auto id : change.waiting) {
        JobRow* job = state.find_job(id).value_or(nullptr);
        const auto waiting = job ? judge_waiting(state, *job) : std::nullopt;
        if (!waiting) continue;
        swept.waiting.push_back(*waiting);
        if (!change.report_only) end_wait(state, *job, waiting->decision);
    }
    for (const auto& permit : change.permits)
        if (change.report_only || promote(state, permit)) swept.permits.push_back(permit);
    return {std::move(swept)};
}

}  // namespace perdure::store
