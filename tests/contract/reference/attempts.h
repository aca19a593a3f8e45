// Starts, progress, and how attempts end (O1, O4, O10, E3, E4).
#pragma once

#include "core/policy/custom_policy.h"
#include "core/policy/policy_book.h"
#include "tests/contract/reference/relations.h"

namespace perdure::reference {

struct Attempts : Relations {
    using Relations::apply;

    // The job and its attempt, as far as they exist.
    std::pair<Job*, Attempt*> find(AttemptKey key) {
        Job* job = find_in(jobs, key.job);
        if (job)
            for (auto& attempt : job->history)
                if (attempt.epoch == key.epoch) return {job, &attempt};
        return {job, nullptr};
    }

    // O1: a message counts only from the current session of the attempt that is in `run`.
    bool is_owner(SessionId speaker, const Attempt& attempt) const {
        const auto* session = find_in(sessions, speaker);
        return session && session->open && attempt.session == speaker;
    }

    // A result lies in the directory: whoever has that now may report it, also after a reboot.
    bool owned_it(SessionId speaker, const Attempt& attempt) const {
        const auto* session = find_in(sessions, speaker);
        for (const auto owner : attempt.owners) {
            const auto* known = find_in(sessions, owner);
            if (session && known && known->directory.same_place(session->directory)) return true;
        }
        return contains(attempt.owners, speaker);
    }

    // O3: what a start, or its absence, says of the session. True: it has turned deaf by this.
    bool note_hearing(SessionId id, HearingFacts::Event event, JobId job) {
        Session* session = find_in(sessions, id);
        if (!session) return false;
        const auto decision = decide_hearing({session->hearing, event, job, now()}, timing);
        session->hearing = decision.hearing;
        return decision.turned_deaf;
    }

    // O6: from now on the attempt is this session's, which draws its number.
    void hand_over(Attempt& attempt, SessionId to) {
        attempt.session = to;
        attempt.owners.push_back(to);
        attempt.assignment = ++sessions.at(to).assignments;
    }

    // What judges the newest attempt.
    PolicyChoice policy_of(const Job& job) const {
        const auto* session = find_in(sessions, job.history.back().session);
        return policy_for_attempt(job.spec->policy, session ? session->policy.get() : nullptr);
    }

    // E4: how the attempts of this generation before the newest have ended, and that one, if given.
    CauseCounts counts(const Job& job, const AttemptEnd* newest) const {
        std::vector<const AttemptEnd*> ends;
        for (const auto& attempt : job.history)
            if (attempt.generation == job.generation && attempt.epoch != job.epoch)
                ends.push_back(attempt.end ? &*attempt.end : nullptr);
        if (newest) ends.push_back(newest);
        return count_causes(ends, policy_of(job));
    }

    // The newest attempt has ended like this: what its job does now.
    Next end_attempt(Job& job, AttemptEnd end, const Evidence* evidence, const Sighting& seen) {
        Attempt& attempt = job.history.back();
        end.clean = attempt.clean;  // what was begun and saved is what was committed (O10)
        end = judged(end, policy_of(job), evidence);
        const auto next = decide_next(
            {.end = end,
             .policy = policy_of(job),
             .effects = job.spec->effects,
             .counts = counts(job, &end),
             .cancel_requested = job.is_in_run() && attempt.kill_cause == Cause::cancelled,
             .attempt = {job.id, job.epoch}});
        enter(job, attempt.session, {seen, end, next, job.presumed_lost});
        attempt.end = end;
        attempt.ended_on = wall;
        attempt.rule = next.rule;
        const bool ends = next.kind == Next::Kind::ended;
        job.presumed_lost = !end.reported && !ends;
        // What a person holds stays held until that person lets it go, or it ends.
        if (!job.is_held() || ends) go_on(job, next);
        return next;
    }

    void go_on(Job& job, const Next& next) {
        std::optional<SessionId> avoid;
        if (next.another_worker) avoid = job.history.back().session;
        if (next.kind == Next::Kind::ended)
            return end(job, next.state, job.history.back().end->cause, next.rule,
                       next.may_have_run);
        if (next.kind == Next::Kind::again_now) {
            line_up(job, true, avoid);
            const auto permits = job.permits();
            const bool keeps = std::all_of(
                permits.begin(), permits.end(),
                [&](const Permit& permit) { return facts_of(permit, job.id).held_by_this_job; });
            if (!keeps || permits.empty() || is_paused(job)) return release(job);
            job.kept_until = now() + timing.kept_holders;  // C4
            return;
        }
        move(job, JobState::scheduled);
        if (next.kind == Next::Kind::again_after) job.due = now() + next.wait;
        if (next.kind == Next::Kind::again_on) job.date = next.date;
        job.avoid = avoid;
        release(job);
    }

    // end_attempt(), and what that says about the session that had it.
    Next end_owned(Job& job, const AttemptEnd& end, const Evidence* evidence, Sighting seen) {
        const auto owner = job.history.back().session;
        if (end.ran == Ran::yes) note_hearing(owner, HearingFacts::Event::confirmed, job.id);
        if (is_unconfirmed_start(end, seen))
            seen.turned_deaf = note_hearing(owner, HearingFacts::Event::unconfirmed, job.id);
        if (!end.reported) ++sessions.at(owner).given_up;
        return end_attempt(job, end, evidence, seen);
    }

    // O1: it was presumed lost, and is not; its epoch stays.
    void reinstate(Job& job, SessionId by, const Sighting& seen) {
        Attempt& attempt = job.history.back();
        enter(job, attempt.session, {.seen = seen});
        note_hearing(by, HearingFacts::Event::confirmed, job.id);
        if (attempt.session != by) hand_over(attempt, by);
        attempt.end.reset();
        attempt.ended_on.reset();
        attempt.rule = {};
        if (!attempt.start_committed) attempt.started_on = wall;
        attempt.start_committed = true;
        attempt.kill_cause.reset();
        attempt.recalled = false;
        attempt.confirm_deadline = now();
        job.presumed_lost = false;
        move(job, JobState::running);
    }

    ChangeReply apply(const Start& change) {
        const auto [job, attempt] = find(change.attempt);
        if (!attempt) return refuse(Errc::fenced);
        if (contains(attempt->owners, change.session))  // also too late it shows that it hears (O3)
            note_hearing(change.session, HearingFacts::Event::confirmed, job->id);
        const bool is_fenced = attempt->terms.isolation == Isolation::fenced;
        const auto decision = decide_start({.in_run = job->is_in_run(*attempt),
                                            .session_is_owner = is_owner(change.session, *attempt),
                                            .state = job->state,
                                            .asks = attempt->terms.asks,
                                            .kill_ordered = attempt->kill_cause.has_value(),
                                            .presumed_lost = is_fenced && job->was_lost(*attempt)});
        if (decision.answer == StartAnswer::again) return refuse(Errc::conflict);
        if (decision.answer == StartAnswer::fenced) return refuse(Errc::fenced);
        if (!decision.commit_running) return {Applied{}};
        job->state = JobState::running;
        attempt->start_committed = true;
        attempt->started_on = wall;
        attempt->recalled = false;  // it was quicker
        return {Applied{}};
    }

    // [P2]: what a running job asks for as its attempt.
    bool may_ask(const std::optional<ByAttempt>& by) {
        if (!by) return true;
        const auto [job, attempt] = find(by->attempt);
        InsideFacts facts;
        if (attempt)
            facts = {job->is_in_run(*attempt), is_owner(by->session, *attempt), job->state,
                     attempt->terms.asks};
        return decide_inside(facts).counts;
    }

    ChangeReply apply(const Progress& change) {
        const auto [job, attempt] = find(change.attempt);
        if (!attempt) return refuse(Errc::fenced);
        const auto decision =
            decide_progress({.in_run = job->is_in_run(*attempt),
                             .session_is_owner = is_owner(change.session, *attempt),
                             .state = job->state,
                             .asks = attempt->terms.asks,
                             .number = change.number,
                             .last_number = attempt->progress});
        if (!decision) return refuse(Errc::fenced);
        if (decision.repeated) return {Applied{}};
        attempt->progress = change.number;
        attempt->clean = change.kind == Progress::Kind::checkpoint;
        if (attempt->clean) attempt->checkpoint = change.checkpoint;
        return {Applied{}};
    }

    ChangeReply apply(const Report& change) {
        const auto [job, attempt] = find(change.attempt);
        if (!attempt) return refuse(Errc::fenced);
        const auto decision =
            decide_report({.attempt_exists = true,
                           .session_owned_it = owned_it(change.session, *attempt),
                           .in_run = job->is_in_run(*attempt),
                           .session_is_owner = attempt->session == change.session,
                           .did_not_run = change.end.ran == Ran::no,
                           .already_reported = attempt->end && attempt->end->reported,
                           .presumed_lost = job->was_lost(*attempt),
                           .job_ended = has_ended(job->state)});
        Reported reply{decision.answer, decision.rule, std::nullopt};
        auto end = change.end;
        end.reported = true;
        if (decision.answer == ReportAnswer::fenced) return refuse(Errc::fenced);
        if (decision.answer == ReportAnswer::repeated) return {reply};
        if (decision.answer == ReportAnswer::file_late) {
            ++fenced;
            if (attempt->late_result) return {reply};
            attempt->late_result = end;
            attempt->evidence = change.evidence;
            return {reply};
        }
        const bool is_back = job->is_in_run() && attempt->recalled;
        const Sighting seen{.detector = is_back ? Detector::confirmation : Detector::report,
                            .rule = is_back ? "O3/handed_back" : decision.rule,
                            .silent_for = change.age};
        attempt->evidence = change.evidence;
        reply.next = end_owned(*job, end, change.evidence.get(), seen);
        return {reply};
    }
};

}  // namespace perdure::reference
