// Attempts: starts, reports, progress, and what a server settles (O1, O2, O4).
#include <algorithm>

#include "base/assert.h"
#include "core/custom_policy.h"
#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/ending.h"
#include "tests/contract/reference/history/ledger.h"

namespace perdure::reference {
namespace {

Error not_the_running_attempt(std::string_view rule) {
    return error(Errc::fenced, std::string(rule));
}

// A message counts only from the session that owns the attempt now (O1).
bool is_owner(State& state, const Run& run, SessionId speaker) {
    const SessionRow* session = state.session(speaker);
    return session && session->open && run.session == speaker;
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
    subject.attempt = subject.job->attempt(key.epoch);
    subject.run = subject.job->running(key.epoch);
    return subject;
}

void put_into_run(State& state, const Subject& subject, SessionRow& session) {
    AttemptRow& attempt = *subject.attempt;
    if (attempt.session() != session.id) {
        attempt.assignment = draw_assignment(session);
        attempt.owners.push_back(session.id);
    }
    attempt.end.reset();
    attempt.ended_on.reset();
    attempt.rule = {};
    if (!attempt.start_committed) attempt.started_on = state.wall;
    attempt.start_committed = true;
    subject.job->presumed_lost.reset();
    move(state, *subject.job,
         Run{.epoch = attempt.epoch,
             .session = session.id,
             .assignment = attempt.assignment,
             .state = JobState::running,
             .confirm_deadline = state.clock.now});
}

// A result lies in the directory: whoever has that now, also after a reboot, may report it.
bool owned_it(State& state, const AttemptRow& attempt, SessionId speaker) {
    if (attempt.was_owned_by(speaker)) return true;
    const SessionRow* session = state.session(speaker);
    return session &&
           std::any_of(attempt.owners.begin(), attempt.owners.end(), [&](SessionId owner) {
               return state.session_of(owner).directory.same_place(session->directory);
           });
}

ReportFacts report_facts(State& state, const Subject& subject, const Report& said) {
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

// What the end of an attempt says about the hearing of the session that owned it (O3).
void note_end(State& state, const Subject& subject, const AttemptEnd& end, Sighting& seen) {
    using Event = HearingFacts::Event;
    const auto owner = subject.attempt->session();
    if (end.ran == Ran::yes) note_hearing(state, owner, Event::confirmed, subject.job->id);
    if (is_unconfirmed_start(end, seen))
        seen.turned_deaf = note_hearing(state, owner, Event::unconfirmed, subject.job->id);
}

// A start, or one that comes too late: either way the session hears (O3).
void note_start(State& state, const Subject& subject, SessionId speaker) {
    if (!subject.attempt || !subject.attempt->was_owned_by(speaker)) return;
    note_hearing(state, speaker, HearingFacts::Event::confirmed, subject.job->id);
}

Next accept(State& state, const Subject& subject, const Report& said, std::string_view rule) {
    auto end = said.end;
    end.reported = true;
    subject.attempt->evidence = said.evidence;
    // What was begun and saved is what was committed (O10).
    end.clean = subject.attempt->clean;
    const auto policy = policy_of(state, *subject.job, *subject.attempt);
    end = judged(end, policy, said.evidence.get());
    const auto next = next_after(*subject.job, *subject.attempt, end, policy);
    const bool recalled = subject.run && subject.run->recalled;
    Sighting seen{.detector = recalled ? Detector::confirmation : Detector::report,
                  .rule = recalled ? "O3/handed_back" : rule,
                  .silent_for = said.age};
    note_end(state, subject, end, seen);
    end_attempt(state, *subject.job, *subject.attempt, end, next, seen);
    return next;
}

void file_late(State& state, const Subject& subject, const Report& said) {
    auto end = said.end;
    end.reported = true;
    if (!subject.attempt->late_result) {
        subject.attempt->late_result = end;
        subject.attempt->evidence = said.evidence;
    }
    ++state.fenced;
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
                      .kill_ordered = subject.run->order.has_value()});
    if (decision.answer == StartAnswer::fenced) return not_the_running_attempt(decision.rule);
    if (decision.commit_running) {
        auto run = *subject.run;
        run.state = JobState::running;
        run.recalled = false;  // it was quicker
        subject.attempt->start_committed = true;
        subject.attempt->started_on = state.wall;
        move(state, *subject.job, run);
    }
    return {Applied{}};
}

ChangeReply apply(State& state, const Report& change) {
    const auto subject = find(state, change.attempt);
    const auto decision = decide_report(report_facts(state, subject, change));
    std::optional<Next> next;
    switch (decision.answer) {
        case ReportAnswer::correct: next = accept(state, subject, change, decision.rule); break;
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
    if (saved) subject.attempt->checkpoint = change.checkpoint;
    return {Applied{}};
}

EndedAttempt give_up(State& state, AttemptKey key, const AttemptEnd& presumed, Sighting seen) {
    const auto subject = find(state, key);
    const auto policy = policy_of(state, *subject.job, *subject.attempt);
    auto end = presumed;
    end.clean = subject.attempt->clean;
    end = judged(end, policy, nullptr);
    const auto next = next_after(*subject.job, *subject.attempt, end, policy);
    if (!end.reported) ++state.sessions.at(subject.run->session).given_up;
    note_end(state, subject, end, seen);
    end_attempt(state, *subject.job, *subject.attempt, end, next, seen);
    return {key, next};
}

void reinstate(State& state, AttemptKey attempt, SessionId session, const Sighting& seen) {
    const auto subject = find(state, attempt);
    const auto owner = subject.attempt->session();
    enter(state, *subject.job, attempt.epoch, owner, {.seen = seen});
    note_hearing(state, session, HearingFacts::Event::confirmed, subject.job->id);
    put_into_run(state, subject, state.sessions.at(session));
}

}  // namespace perdure::reference
