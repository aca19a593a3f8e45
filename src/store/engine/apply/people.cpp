// What a person does to a job: cancel, hold, and dealing with quarantine (E1, E2).
#include "base/zoo.h"
#include "core/job/aftermath.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/moves.h"

namespace perdure::store {
namespace {

// An attempt that had to ask and did not: nothing has started.
void cancel_unstarted(State& state, JobRow& job, std::string_view rule) {
    const AttemptEnd end{.cause = Cause::cancelled, .ran = Ran::no, .reported = true};
    const Next next{.state = JobState::cancelled, .rule = rule};
    end_attempt(state, job, job.in<Run>()->epoch, {end, next}, Sighting{});
}

QuarantineFacts quarantine_facts(const State& state, const JobRow& job,
                                 const DealWithQuarantined& change) {
    QuarantineFacts facts{.state = state_of(job), .may_still_run = change.may_still_run};
    facts.is_still_told = state.debts.owes(job.id);
    if (const auto* outcome = job.in<Outcome>()) facts.discarded = outcome->discarded;
    if (job.attempts.empty()) return facts;
    const auto& last = job.attempts.back();
    facts.late_result = last.late_result;
    facts.process_known_dead = is_known_dead(last.end, last.late_result);
    return facts;
}

// W2. Before the move that writes the job.
void note_act(State& state, JobRow& job, ActKind kind, const std::string& who) {
    add_act(job.acts, {kind, who, state.service.wall});
}

ActKind kind_of(QuarantineAction action) {
    switch (action) {
        case QuarantineAction::release: return ActKind::release;
        case QuarantineAction::accept: return ActKind::accept;
        case QuarantineAction::discard: return ActKind::discard;
    }
    return ActKind::release;
}

// What an attempt has submitted, it may cancel, and nothing else.
bool is_its_child(const JobRow& job, const std::optional<ByAttempt>& by) {
    return !by || (job.spec->parent && job.spec->parent->job == by->attempt.job);
}

void carry_out(State& state, JobRow& job, const QuarantineDecision& decision) {
    using Kind = QuarantineDecision::Kind;
    switch (decision.kind) {
        case Kind::refuse: return;
        case Kind::new_generation: {
            ++job.generation;
            begin_generation(state, job);
            const Ready ready{begin_entry(state, job, InLine::at_the_end), std::nullopt};
            return move(state, job, ready);
        }
        case Kind::end_generation: {
            const auto cause = job.attempts.back().late_result->cause;
            ++job.generation;
            return move(state, job,
                        Outcome{.state = decision.state, .cause = cause, .rule = decision.rule});
        }
        case Kind::mark_discarded: {
            auto outcome = *job.in<Outcome>();
            outcome.discarded = true;
            return move(state, job, outcome);
        }
    }
}

}  // namespace

ChangeReply apply(State& state, const Cancel& change) {
    if (auto why = why_not_inside(state, change.by)) return *why;
    JobRow* job = state.job(change.job);
    if (!job || !is_its_child(*job, change.by)) return no_such_job();
    const auto* run = job->in<Run>();
    const bool is_repeated = run && run->kill_cause == Cause::cancelled;
    const auto decision = decide_cancel(
        {.state = state_of(*job), .asks = run && job->attempt(run->epoch)->terms.asks});
    Cancelled reply{.kind = decision.kind};
    if (decision.kind == CancelDecision::Kind::end_now) preload_permits(state, *job);
    if (decision.kind != CancelDecision::Kind::already_ended && !is_repeated)
        note_act(state, *job, ActKind::cancel, change.who);
    switch (decision.kind) {
        case CancelDecision::Kind::already_ended: break;
        case CancelDecision::Kind::order_kill:
            reply.running = AttemptKey{job->id, run->epoch};
            reply.session = run->session;
            order_kill(state, *job, Cause::cancelled);
            break;
        case CancelDecision::Kind::end_now:
            if (run) {
                cancel_unstarted(state, *job, decision.rule);
            } else {
                end_waiting(state, *job,
                            Outcome{.state = JobState::cancelled,
                                    .cause = Cause::cancelled,
                                    .rule = decision.rule});
            }
            break;
    }
    return {reply};
}

ChangeReply apply(State& state, const Hold& change) {
    JobRow* job = state.job(change.job);
    if (!job) return no_such_job();
    if (!can_be_held(state_of(*job))) return not_possible("only a job that waits can be held");
    if (!change.hold) {
        if (!job->is_held_by_a_person()) return not_possible("the job is not held");
        note_act(state, *job, ActKind::unhold, change.who);
        move(state, *job, first_place(state, *job));
        return {Applied{}};
    }
    if (job->is_held_by_a_person()) return {Applied{}};
    preload_permits_before_blocking(state, *job);
    note_act(state, *job, ActKind::hold, change.who);
    auto entry = begin_entry(state, *job, InLine::at_the_end);
    entry.queue_deadline = state.now() + state.timing.held_by_person;
    if (zoo(Bug::hold_keeps_holders)) {
        move(state, *job, Blocked{entry, std::nullopt});
    } else {
        move_and_free(state, *job, Blocked{entry, std::nullopt});
    }
    return {Applied{}};
}

ChangeReply apply(State& state, const DealWithQuarantined& change) {
    JobRow* job = state.job(change.job);
    if (!job) return no_such_job();
    const auto decision = decide_quarantine(change.action, quarantine_facts(state, *job, change));
    if (decision.kind == QuarantineDecision::Kind::refuse) return not_possible(decision.rule);
    note_act(state, *job, kind_of(change.action), change.who);
    carry_out(state, *job, decision);
    return {Applied{}};
}

}  // namespace perdure::store
