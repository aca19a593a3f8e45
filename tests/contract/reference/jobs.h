// Submitting, a person's acts, waiting, and being forgotten (C5, E1, E2, E5).
#pragma once

#include "core/job/aftermath.h"
#include "core/job/submit.h"
#include "tests/contract/reference/sessions.h"

namespace perdure::reference {

struct Jobs : Sessions {
    using Sessions::apply;

    ChangeReply apply(const Submit& change) {
        if (!may_ask(change.by)) return refuse(Errc::fenced);
        if (const Job* job = find_in(jobs, change.id)) {
            // Ids are never drawn twice: this very submit is repeated, after a lost reply.
            if (!is_same_body(job->body_hash, change.body_hash, change.old_hash))
                return refuse(Errc::conflict);
            return {Submitted{job->id, true, job->state}};
        }
        const auto& spec = *change.spec;
        const Name name{spec.tenant, spec.idempotency_key.value_or("")};
        const Key* known = spec.idempotency_key ? find_in(keys, name) : nullptr;
        if (known && known->gone && known->until <= now()) known = nullptr;
        const bool is_same =
            known && is_same_body(known->body_hash, change.body_hash, change.old_hash);
        const auto decision = decide_idempotency({known != nullptr, is_same, known && known->gone});
        using Kind = IdempotencyDecision::Kind;
        if (decision.kind == Kind::same_job)
            return {Submitted{known->job, false, jobs.at(known->job).state}};
        if (decision.kind == Kind::other_body) return refuse(Errc::conflict);
        if (decision.kind == Kind::gone) return refuse(Errc::gone);
        if (!are_limits_defined(spec)) return refuse(Errc::invalid);
        for (const auto& after : spec.after) {
            const auto* other = find_in(jobs, after.job);
            if (!other || other->spec->tenant != spec.tenant) return refuse(Errc::invalid);
        }
        Job& job = make_job(change);
        if (spec.idempotency_key) keys[name] = {job.id, job.body_hash};
        check_waiter(job);  // what it waits for may have ended otherwise
        return {Submitted{job.id, true, job.state}};
    }

    // All or none: if one is refused, everything is again as it was before the first.
    ChangeReply apply(const SubmitAll& change) {
        if (!may_ask(change.by)) return refuse(Errc::fenced);
        const Rows before = *this;
        BatchSubmitted batch;
        std::map<JobId, JobId> found;
        for (const auto& asked : change.jobs) {
            auto job = asked;
            job.spec = with_found(asked.spec, found);
            const auto reply = apply(job);
            if (!reply) {
                static_cast<Rows&>(*this) = before;
                const auto index = batch.jobs.size();
                return {BatchSubmitted{.refused = BatchSubmitted::Refused{index, reply.error()}}};
            }
            batch.jobs.push_back(std::get<Submitted>(*reply));
            found[asked.id] = batch.jobs.back().id;
        }
        return {batch};
    }

    // W2.
    void note_act(Job& job, ActKind kind, const std::string& who) {
        add_act(job.acts, {kind, who, wall});
    }

    ChangeReply apply(const Cancel& change) {
        if (!may_ask(change.by)) return refuse(Errc::fenced);
        Job* job = find_in(jobs, change.job);
        if (!job) return refuse(Errc::not_found);
        const auto& parent = job->spec->parent;
        if (change.by && (!parent || parent->job != change.by->attempt.job))
            return refuse(Errc::not_found);
        Attempt* running = job->is_in_run() ? &job->history.back() : nullptr;
        const auto [kind, rule] = decide_cancel({job->state, running && running->terms.asks});
        const bool is_repeated = running && running->kill_cause == Cause::cancelled;
        if (kind != CancelDecision::Kind::already_ended && !is_repeated)
            note_act(*job, ActKind::cancel, change.who);
        if (kind == CancelDecision::Kind::order_kill) {
            order_kill(*running, Cause::cancelled);
            return {Cancelled{kind, AttemptKey{job->id, job->epoch}, running->session}};
        }
        if (kind == CancelDecision::Kind::already_ended) return {Cancelled{kind}};
        if (running) {  // it had to ask and did not: nothing has started
            running->end = {.cause = Cause::cancelled, .ran = Ran::no, .reported = true};
            running->ended_on = wall;
            running->rule = rule;
        }
        end(*job, JobState::cancelled, Cause::cancelled, rule);
        return {Cancelled{kind}};
    }

    static void order_kill(Attempt& attempt, Cause cause) {
        attempt.kill_cause = cause;
        attempt.recalled = false;  // a kill is stronger
    }

    ChangeReply apply(const Hold& change) {
        Job* job = find_in(jobs, change.job);
        if (!job) return refuse(Errc::not_found);
        if (!can_be_held(job->state)) return refuse(Errc::conflict);
        if (!change.hold && !job->is_held()) return refuse(Errc::conflict);
        if (!change.hold) {
            note_act(*job, ActKind::unhold, change.who);
            begin_waiting(*job);
        } else if (!job->is_held()) {
            note_act(*job, ActKind::hold, change.who);
            move(*job, JobState::blocked);
            job->queue_deadline = now() + timing.held_by_person;
            release(*job);
        }
        return {Applied{}};
    }

    ChangeReply apply(const DealWithQuarantined& change) {
        Job* job = find_in(jobs, change.job);
        if (!job) return refuse(Errc::not_found);
        QuarantineFacts facts{.state = job->state,
                              .discarded = job->discarded,
                              .may_still_run = change.may_still_run};
        if (!job->history.empty()) {
            const Attempt& last = job->history.back();
            facts.late_result = last.late_result;
            facts.process_known_dead = is_known_dead(last.end, last.late_result);
        }
        const auto decision = decide_quarantine(change.action, facts);
        using Kind = QuarantineDecision::Kind;
        if (decision.kind == Kind::refuse) return refuse(Errc::conflict);
        constexpr std::array kinds = {ActKind::release, ActKind::accept, ActKind::discard};
        note_act(*job, kinds.at(static_cast<std::size_t>(change.action)), change.who);
        if (decision.kind == Kind::mark_discarded) {
            job->discarded = true;
            job->forget_at = *job->ended_at + decide_retention(job->state, true, timing);
            return {Applied{}};
        }
        ++job->generation;
        if (decision.kind == Kind::end_generation) {
            end(*job, decision.state, facts.late_result->cause, decision.rule);
        } else {
            begin_generation(*job);
            line_up(*job, false, std::nullopt);
        }
        return {Applied{}};
    }

    WaitFacts wait_facts(const Job& job) const {
        return {.state = job.state,
                .queue_deadline = job.queue_deadline,
                .total_deadline = job.total_deadline,
                .due = job.due,
                .date = job.date,
                .kept_until = job.kept_until,
                .kill_ordered = job.is_in_run() && job.history.back().kill_cause,
                .now = now(),
                .wall = wall};
    }

    void end_wait(Job& job, const WaitDecision& decision) {
        using Kind = WaitDecision::Kind;
        const auto as = decision.kind == Kind::fail ? JobState::failed : JobState::expired;
        switch (decision.kind) {
            case Kind::wait: return;
            case Kind::make_ready: return line_up(job, false, job.avoid);
            case Kind::order_kill: return order_kill(job.history.back(), decision.cause);
            case Kind::free_holders: move(job, JobState::ready); return release(job);
            case Kind::fail:
            case Kind::expire:
                enter(job, SessionId{}, expiry_facts(wait_facts(job), decision, as));
                return end(job, as, decision.cause, decision.rule);
        }
    }

    // Permits that are freer than they are offered there are none.
    ChangeReply apply(const Sweep& change) {
        Swept swept{.clock = clock};
        sweep_attempts(swept);
        for (const auto id : change.waiting) {
            Job* job = find_in(jobs, id);
            const auto decision = job ? decide_wait(wait_facts(*job)) : WaitDecision{};
            if (decision.kind == WaitDecision::Kind::wait) continue;
            swept.waiting.push_back({{id, job->epoch}, job->state, decision});
            end_wait(*job, decision);
        }
        return {swept};
    }

    // Those whose retention is over, in the order in which it was.
    ChangeReply apply(const ForgetEnded& change) {
        std::set<std::pair<ServiceTime, JobId>> over;
        for (const auto& [id, job] : jobs)
            if (has_ended(job.state) && *job.forget_at <= now()) over.emplace(*job.forget_at, id);
        Forgotten forgotten;
        for (const auto& [at, id] : over) {
            if (forgotten.jobs.size() == change.max) break;
            const Job& job = jobs.at(id);
            if (const auto& key = job.spec->idempotency_key) {  // it outlives the job (C5)
                const auto kept = *job.ended_at + job.spec->keep_key.value_or(timing.keep_key);
                keys[{job.spec->tenant, *key}] = {id, job.body_hash, job.state,
                                                  std::max(kept, now())};
            }
            std::erase_if(ledger, [&](const Recovery& entry) { return entry.attempt.job == id; });
            jobs.erase(id);
            forgotten.jobs.push_back(id);
        }
        forget_sessions(change.max);
        return {forgotten};
    }

    void forget_sessions(std::uint32_t max) {
        SessionRetentionFacts facts{.now = now()};
        for (const auto& [id, job] : jobs)
            facts.oldest_submit =
                std::min(facts.oldest_submit.value_or(job.submitted_at), job.submitted_at);
        std::erase_if(sessions, [&](const auto& entry) {
            facts.owns_attempts = !runs_of(entry.first).empty();
            facts.lease_deadline = entry.second.lease_deadline;
            facts.heard_at = entry.second.heard_at;
            return max > 0 && decide_session_retention(facts).forget && max-- > 0;
        });
    }
};

}  // namespace perdure::reference
