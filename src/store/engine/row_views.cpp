#include "store/engine/row_views.h"

#include <utility>

#include "store/engine/apply/ending.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

struct FillJobView {
    JobView& view;
    void operator()(const Timer&) const {}
    void operator()(const Ready&) const {}
    void operator()(const Blocked& blocked) const { view.blocked_on = blocked.on; }
    void operator()(const Run&) const {}
    void operator()(const Wait&) const {}
    void operator()(const Outcome& outcome) const {
        view.cause = outcome.cause;
        view.rule = outcome.rule;
        view.may_have_run = outcome.may_have_run;
        view.discarded = outcome.discarded;
        view.ended_at = outcome.ended_at;
        view.ended_on = outcome.ended_on;
        view.forget_at = outcome.forget_at;
    }
};

AttemptView attempt_view(JobReader& reader, JobId job, const AttemptRow& attempt) {
    return {.epoch = attempt.epoch,
            .generation = attempt.generation,
            .session = attempt.session(),
            .assignment = attempt.assignment,
            .terms = attempt.terms,
            .start_committed = attempt.start_committed,
            .claimed_at = attempt.claimed_at,
            .end = attempt.end,
            .late_result = attempt.late_result,
            .rule = attempt.rule,
            .claimed_on = attempt.claimed_on,
            .started_on = attempt.started_on,
            .ended_on = attempt.ended_on,
            .evidence = evidence_of(reader, job, attempt)};
}

}  // namespace

RunView run_view(ViewReaders readers, JobRow& job, decltype(RunView::worker_policy) worker_policy) {
    const auto run = *job.in<Run>();
    const auto& attempt = *job.attempt(run.epoch);
    RunView view{.attempt = {job.id, run.epoch},
                 .session = run.session,
                 .assignment = run.assignment,
                 .state = run.state,
                 .terms = attempt.terms,
                 .clean = attempt.clean,
                 .kill_cause = run.kill_cause,
                 .recalled = run.recalled,
                 .confirm_deadline = run.confirm_deadline,
                 .spec = job.spec};
    view.checkpoint = checkpoint_before(readers.jobs, job, run.epoch);
    view.inputs = inputs_of(readers.relations, job);
    view.worker_policy = std::move(worker_policy);
    view.counts = counts_before(readers.jobs, job, run.epoch, deciding_policy(view));
    return view;
}

JobView job_view(JobReader& reader, const JobRow& job, AttemptWindow attempts) {
    const auto facts = wait_facts(job);
    JobView view{.id = job.id,
                 .spec = job.spec,
                 .state = facts.state,
                 .epoch = job.epoch,
                 .generation = job.generation,
                 .submitted_at = job.submitted_at,
                 .queue_deadline = facts.queue_deadline,
                 .total_deadline = facts.total_deadline,
                 .due = facts.due,
                 .date = facts.date,
                 .kept_until = facts.kept_until,
                 .acts = job.acts,
                 .presumed_lost = job.presumed_lost.has_value()};
    for (const auto& attempt : attempts_in(reader, job, attempts))
        view.attempts.push_back(attempt_view(reader, job.id, attempt));
    std::visit(FillJobView{view}, job.place);
    return view;
}

SessionView session_view(const SessionRow& session, const ServiceTick& clock) {
    return {.session = session.id,
            .directory = session.directory,
            .life = session.life,
            .worker = session.worker,
            .open = session.open,
            .stream = session.stream,
            .assignments = session.assignments,
            .heartbeat = session.heartbeat,
            .content_hash = session.content_hash,
            .seen = session.seen,
            .renewal = session.renewal,
            .slots = session.slots,
            .draining = session.draining,
            .offer = session.offer,
            .lease_deadline = session.lease_deadline,
            .heard_at = session.heard_at,
            .hearing = session.hearing,
            .policy = session.policy,
            .runs = {},
            .more_runs = {},
            .clock = clock};
}

OwnerView owner_view(const SessionRow& session, const ServiceTick& clock) {
    return {.session = session.id,
            .directory = session.directory,
            .worker = session.worker,
            .open = session.open,
            .lease_deadline = session.lease_deadline,
            .heard_at = session.heard_at,
            .clock = clock};
}

}  // namespace perdure::store
