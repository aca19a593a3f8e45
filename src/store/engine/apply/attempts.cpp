// Attempts: starts, reports, progress, and what a server settles (O1, O2, O4).
#include <algorithm>

#include "base/probe.h"
#include "base/zoo.h"
#include "core/policy/custom_policy.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/repairs.h"
#include "store/engine/rows/codec.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

Error not_the_running_attempt(std::string_view rule) {
    return error(Errc::fenced, std::string(rule));
}

// A message counts only from the session that owns the attempt now (O1).
bool is_owner(const State& state, const Run& run, SessionId speaker) {
    const SessionRow* session = state.session(speaker);
    if (!session || !session->open) return false;
    if (zoo(Bug::fence_by_worker_name))
        return state.session_that_exists(run.session).worker == session->worker;
    return run.session == speaker;
}

// The attempt that a message is about, as far as it exists.
struct Subject {
    JobRow* job = nullptr;
    AttemptRow* attempt = nullptr;
    const Run* run = nullptr;  // if it is the one in `run`
};

Subject find(State& state, AttemptKey key) {
    Subject subject{.job = state.job(key.job)};
    if (!subject.job) return subject;
    subject.attempt = find_attempt(state.job_rows(), *subject.job, key.epoch);
    subject.run = subject.job->running(key.epoch);
    if (!subject.job->older.empty()) state.note_older(*subject.job);
    return subject;
}

InsideFacts inside_facts(const State& state, const Subject& subject, SessionId speaker) {
    if (!subject.run || !subject.attempt) return {};
    return {.in_run = true,
            .session_is_owner = is_owner(state, *subject.run, speaker),
            .state = subject.run->state,
            .asks = subject.attempt->terms.asks};
}

void put_into_run(State& state, const Subject& subject, SessionId session) {
    AttemptRow& attempt = *subject.attempt;
    if (attempt.session() != session) {
        attempt.assignment = state.draw_assignment(session);
        attempt.owners.push_back(session);
    }
    attempt.end.reset();
    attempt.ended_on.reset();
    attempt.rule = {};
    if (!attempt.start_committed) attempt.started_on = state.service.wall;
    attempt.start_committed = true;
    subject.job->presumed_lost.reset();
    move(state, *subject.job,
         Run{.epoch = attempt.epoch,
             .session = session,
             .assignment = attempt.assignment,
             .state = JobState::running,
             .confirm_deadline = state.now()});
}

// The bug: a start that comes too late is answered as long as nobody has claimed the job.
bool is_late_ask_answered(State& state, const Subject& subject, SessionId speaker) {
    if (!zoo(Bug::late_ask_while_waiting_for_retry)) return false;
    const bool waits = subject.attempt && subject.attempt->epoch == subject.job->epoch &&
                       is_waiting_for_a_claim(state_of(*subject.job));
    if (!state.session(speaker) || !waits) return false;
    put_into_run(state, subject, speaker);
    return true;
}

// A result lies in the directory: whoever has that now, also after a reboot, may report it.
bool owned_it(const State& state, const AttemptRow& attempt, SessionId speaker) {
    if (attempt.was_owned_by(speaker)) return true;
    const SessionRow* session = state.session(speaker);
    return session &&
           std::any_of(attempt.owners.begin(), attempt.owners.end(), [&](SessionId owner) {
               const auto* known = state.session(owner);
               return known && known->directory.same_place(session->directory);
           });
}

ReportFacts report_facts(const State& state, const Subject& subject, const Report& said) {
    const auto speaker = said.session;
    if (!subject.attempt) return {};
    const auto& lost = subject.job->presumed_lost;
    const auto& end = subject.attempt->end;
    return {.attempt_exists = true,
            .session_owned_it = owned_it(state, *subject.attempt, speaker),
            .in_run = subject.run != nullptr,
            // Also after it has ended: nobody else can have started it.
            .session_is_owner = subject.run && subject.run->session == speaker,
            .did_not_run = said.end.ran == Ran::no,
            .already_reported = end && end->reported,
            .presumed_lost = lost && lost->epoch == subject.attempt->epoch,
            .job_ended = has_ended(state_of(*subject.job))};
}

void keep_evidence(State& state, const Subject& subject, const EvidenceRef& evidence) {
    if (!evidence && !subject.attempt->evidence.is_there()) return;
    const auto bytes = evidence ? encode(*evidence) : std::string{};
    state.keep(*subject.job, *subject.attempt, Large::evidence, evidence ? &bytes : nullptr);
}

// Who owned an attempt of which job. The attempt itself moves when its job's history is loaded.
struct Ownership {
    JobId job;
    SessionId session;
};

// What the end of an attempt says about the hearing of the session that owned it (O3).
void note_end(State& state, const Ownership& owned, const AttemptEnd& end, Sighting& seen) {
    using Event = HearingFacts::Event;
    if (end.ran == Ran::yes) note_hearing(state, owned.session, Event::confirmed, owned.job);
    if (is_unconfirmed_start(end, seen))
        seen.turned_deaf = note_hearing(state, owned.session, Event::unconfirmed, owned.job);
}

// A start, or one that comes too late: either way the session hears (O3).
void note_start(State& state, const Subject& subject, SessionId speaker) {
    if (!subject.attempt || !subject.attempt->was_owned_by(speaker)) return;
    note_hearing(state, speaker, HearingFacts::Event::confirmed, subject.job->id);
}

Next accept(State& state, const Subject& subject, const Report& said, std::string_view rule) {
    auto end = said.end;
    end.reported = true;
    const auto epoch = subject.attempt->epoch;
    const Ownership owned{subject.job->id, subject.attempt->session()};
    const auto judgement = judge(state, *subject.job, *subject.attempt, end, said.evidence.get());
    preload_permits(state, *subject.job);
    keep_evidence(state, subject, said.evidence);
    const bool recalled = subject.run && subject.run->recalled;
    Sighting seen{.detector = recalled ? Detector::confirmation : Detector::report,
                  .rule = recalled ? "O3/handed_back" : rule,
                  .silent_for = said.age};
    note_end(state, owned, judgement.end, seen);
    end_attempt(state, *subject.job, epoch, judgement, seen);
    return judgement.next;
}

void file_late(State& state, const Subject& subject, const Report& said) {
    reached<"late_result_stored">();
    if (zoo(Bug::late_result_changes_state)) preload_permits(state, *subject.job);
    auto end = said.end;
    end.reported = true;
    ++state.change_service().fenced;
    if (subject.attempt->late_result) return;
    subject.attempt->late_result = end;
    subject.attempt->unsaved = true;
    keep_evidence(state, subject, said.evidence);
    state.touch(*subject.job);
    if (!zoo(Bug::late_result_changes_state)) return;
    const auto ended = end.succeeded ? JobState::succeeded : JobState::failed;
    move_and_free(state, *subject.job, Outcome{.state = ended, .cause = end.cause});
}

StartFacts unowned_start_facts(const Subject& subject) {
    if (!subject.attempt) return {};
    const auto& lost = subject.job->presumed_lost;
    const bool fenced = subject.attempt->terms.isolation == Isolation::fenced;
    return {.asks = subject.attempt->terms.asks,
            .presumed_lost = fenced && lost && lost->epoch == subject.attempt->epoch};
}

}  // namespace

ChangeReply apply(State& state, const Start& change) {
    const auto subject = find(state, change.attempt);
    note_start(state, subject, change.session);
    if (!subject.run) {
        if (is_late_ask_answered(state, subject, change.session)) return {Applied{}};
        const auto decision = decide_start(unowned_start_facts(subject));
        if (decision.answer == StartAnswer::again)
            return error(Errc::conflict, std::string(decision.rule));
        return not_the_running_attempt(decision.rule);
    }
    const auto decision =
        decide_start({.in_run = true,
                      .session_is_owner = is_owner(state, *subject.run, change.session),
                      .state = subject.run->state,
                      .asks = subject.attempt->terms.asks,
                      .kill_ordered = subject.run->kill_cause.has_value()});
    if (decision.answer == StartAnswer::fenced) return not_the_running_attempt(decision.rule);
    if (decision.commit_running) {
        auto run = *subject.run;
        run.state = JobState::running;
        run.recalled = false;  // it was quicker
        subject.attempt->start_committed = true;
        subject.attempt->started_on = state.service.wall;
        move(state, *subject.job, run);
    }
    return {Applied{}};
}

ChangeReply apply(State& state, const Report& change) {
    auto subject = find(state, change.attempt);
    if (zoo(Bug::fence_by_worker_name) && subject.job && !subject.run) {
        const auto current = find(state, {change.attempt.job, subject.job->epoch});
        if (current.run && is_owner(state, *current.run, change.session)) subject = current;
    }
    const auto decision = decide_report(report_facts(state, subject, change));
    std::optional<Next> next;
    switch (decision.answer) {
        case ReportAnswer::correct:
            reached<"presumed_end_corrected">();
            next = accept(state, subject, change, decision.rule);
            break;
        case ReportAnswer::accept: next = accept(state, subject, change, decision.rule); break;
        case ReportAnswer::repeated: break;
        case ReportAnswer::file_late: file_late(state, subject, change); break;
        case ReportAnswer::fenced: return not_the_running_attempt(decision.rule);
    }
    return {Reported{decision.answer, decision.rule, next}};
}

ChangeReply apply(State& state, const Progress& change) {
    const auto subject = find(state, change.attempt);
    ProgressFacts facts;
    if (subject.run) {
        facts = {.in_run = true,
                 .session_is_owner = is_owner(state, *subject.run, change.session),
                 .state = subject.run->state,
                 .asks = subject.attempt->terms.asks,
                 .number = change.number,
                 .last_number = subject.attempt->progress_number};
    }
    const auto decision = decide_progress(facts);
    if (!decision) return not_the_running_attempt(decision.rule);
    if (decision.repeated) return {Applied{}};
    subject.attempt->progress_number = change.number;
    const bool saved = change.kind == Progress::Kind::checkpoint;
    subject.attempt->clean = saved;
    if (saved) state.keep(*subject.job, *subject.attempt, Large::checkpoint, &change.checkpoint);
    state.touch(*subject.job);
    return {Applied{}};
}

std::optional<Error> why_not_inside(State& state, const std::optional<ByAttempt>& by) {
    if (!by || zoo(Bug::child_of_a_replaced_attempt)) return std::nullopt;
    const auto decision = decide_inside(inside_facts(state, find(state, by->attempt), by->session));
    if (decision) return std::nullopt;
    return not_the_running_attempt(decision.rule);
}

void reinstate(State& state, AttemptKey attempt, SessionId session, const Sighting& seen) {
    reached<"presumed_loss_undone">();
    const auto subject = find(state, attempt);
    record_repair(state, *subject.job, attempt.epoch, subject.attempt->session(), {.seen = seen});
    note_hearing(state, session, HearingFacts::Event::confirmed, subject.job->id);
    put_into_run(state, subject, session);
}

EndedAttempt give_up(State& state, AttemptKey attempt, const AttemptEnd& presumed, Sighting seen) {
    const auto subject = find(state, attempt);
    if (!subject.run) fail_corrupt("job " + attempt.job.text() + " is listed as running");
    const Ownership owned{subject.job->id, subject.attempt->session()};
    const auto judgement = judge(state, *subject.job, *subject.attempt, presumed);
    if (!presumed.reported) ++state.change_session(owned.session).given_up;
    note_end(state, owned, judgement.end, seen);
    end_attempt(state, *subject.job, attempt.epoch, judgement, seen);
    return {attempt, judgement.next};
}

Assignment assignment_of(State& state, JobRow& job) {
    const auto& run = *job.in<Run>();
    return {.attempt = {job.id, run.epoch},
            .number = run.assignment,
            .terms = job.attempt(run.epoch)->terms,
            .spec = job.spec,
            .checkpoint = checkpoint_before(state.job_rows(), job, run.epoch),
            .inputs = inputs_of(state.relations, job)};
}

void order_back(State& state, AttemptKey attempt) {
    JobRow& job = state.job_that_exists(attempt.job);
    auto run = *job.running(attempt.epoch);
    run.recalled = true;
    run.confirm_deadline = state.now() + state.timing.recall;
    move(state, job, run);
}

}  // namespace perdure::store
