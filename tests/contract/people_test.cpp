// What a person can do: cancel (E1), hold, deal with the quarantined [P4] (E2).
#include "core/job/submit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

using CancelKind = CancelDecision::Kind;
using Action = QuarantineAction;

TEST_P(StoreContract, cancelling_a_job_that_waits_ends_it_now) {
    const auto worker = open_session();
    auto later = Wanted::job();
    later.run_at = wall + hours(1);
    const auto scheduled = submit(later);
    submit(Wanted::keyed("k"));
    run_one(worker);
    const auto blocked = submit(Wanted::keyed("k"));
    EXPECT_TRUE(claim(worker).empty());
    const auto ready = submit(Wanted::job());
    for (const auto id : {scheduled, blocked, ready}) {
        const auto cancelled = get<Cancelled>(apply(Cancel{id}));
        EXPECT_EQ(cancelled.kind, CancelKind::end_now);
        EXPECT_FALSE(cancelled.running.has_value());
        EXPECT_EQ(state(id), JobState::cancelled);
        EXPECT_EQ(job(id).cause, Cause::cancelled);
        EXPECT_EQ(job(id).rule, "E1/not_started");
    }
}

TEST_P(StoreContract, cancelling_an_attempt_that_has_not_asked_yet_ends_it_now) {
    const auto worker = open_session();
    const auto id = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    claim_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    EXPECT_EQ(get<Cancelled>(apply(Cancel{id})).kind, CancelKind::end_now);
    EXPECT_EQ(state(id), JobState::cancelled);
    const auto end = *last_attempt(id).end;
    EXPECT_EQ(end.cause, Cause::cancelled);
    EXPECT_EQ(end.ran, Ran::no);
    EXPECT_TRUE(end.reported);
    EXPECT_EQ(state(second), JobState::ready);
    EXPECT_TRUE(session(worker).runs.empty());
}

TEST_P(StoreContract, cancelling_an_attempt_that_may_have_started_orders_its_kill) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    for (int i = 0; i < 2; ++i) {
        const auto cancelled = get<Cancelled>(apply(Cancel{id}));
        EXPECT_EQ(cancelled.kind, CancelKind::order_kill);
        EXPECT_EQ(cancelled.running, attempt);
        EXPECT_EQ(cancelled.session, worker);
        EXPECT_EQ(job(id).run->kill_cause, Cause::cancelled);
        EXPECT_TRUE(start(worker, attempt).has_value());  // it runs; its report decides
    }
}

TEST_P(StoreContract, a_cancelled_attempt_that_is_lost_is_cancelled_and_not_retried) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    lose(attempt);
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(StoreContract, cancelling_a_job_that_has_ended_says_so) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), success());
    EXPECT_EQ(get<Cancelled>(apply(Cancel{id})).kind, CancelKind::already_ended);
    EXPECT_EQ(state(id), JobState::succeeded);
    EXPECT_TRUE(refused(apply(Cancel{JobId{next_id()}}), Errc::not_found));
}

TEST_P(StoreContract, a_held_job_waits_for_a_person) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    EXPECT_EQ(state(id), JobState::blocked);
    EXPECT_FALSE(job(id).blocked_on.has_value());
    EXPECT_EQ(job(id).queue_deadline, now() + timing.held_by_person);
    EXPECT_TRUE(claim(worker).empty());
    pass(days(10));
    EXPECT_TRUE(overdue().waiting.empty());
    EXPECT_TRUE(commit({Hold{id, false}}).work_appeared);
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(job(id).queue_deadline, now() + job(id).spec->timeouts.queue);
}

TEST_P(StoreContract, a_held_job_expires_after_its_thirty_days) {
    const auto id = submit(Wanted::job());
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    pass(timing.held_by_person);
    sweep();
    EXPECT_EQ(state(id), JobState::expired);
}

TEST_P(StoreContract, holding_again_changes_nothing) {
    const auto id = submit(Wanted::job());
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    const auto deadline = job(id).queue_deadline;
    pass(days(1));
    EXPECT_TRUE(apply(Hold{id, true}).has_value());
    EXPECT_EQ(job(id).queue_deadline, deadline);
}

TEST_P(StoreContract, only_a_job_that_waits_can_be_held) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    EXPECT_TRUE(refused(apply(Hold{id, false}), Errc::conflict)) << "it is not held";
    const auto attempt = run_one(worker);
    EXPECT_TRUE(refused(apply(Hold{id, true}), Errc::conflict));
    finish(worker, attempt, success());
    EXPECT_TRUE(refused(apply(Hold{id, true}), Errc::conflict));
    EXPECT_TRUE(refused(apply(Hold{JobId{next_id()}, true}), Errc::not_found));
}

TEST_P(StoreContract, a_scheduled_job_that_was_held_does_not_begin_before_its_date) {
    auto spec = Wanted::job();
    spec.run_at = wall + hours(1);
    const auto id = submit(spec);
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    ASSERT_TRUE(apply(Hold{id, false}).has_value());
    EXPECT_EQ(state(id), JobState::scheduled);
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    wall = wall + hours(2);
    ASSERT_TRUE(apply(Hold{id, false}).has_value());
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, a_held_job_is_not_promoted) {
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    const auto held = submit(Wanted::keyed("k"));
    const auto next = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    ASSERT_TRUE(apply(Hold{held, true}).has_value());
    finish(worker, attempt, success());
    EXPECT_EQ(state(held), JobState::blocked);
    EXPECT_EQ(state(next), JobState::ready);
}

TEST_P(StoreContract, only_a_quarantined_job_is_dealt_with) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    for (const auto action : {Action::release, Action::accept, Action::discard})
        EXPECT_TRUE(refused(apply(DealWithQuarantined{id, action, true}), Errc::conflict));
    finish(worker, run_one(worker), exit_with(1));
    EXPECT_TRUE(refused(apply(DealWithQuarantined{id, Action::release}), Errc::conflict));
    const JobId unknown{next_id()};
    EXPECT_TRUE(refused(apply(DealWithQuarantined{unknown, Action::release}), Errc::not_found));
}

TEST_P(StoreContract, a_released_job_begins_a_new_generation_and_epochs_go_on) {
    const auto worker = open_session();
    auto spec = Wanted::once();
    spec.timeouts.total = hours(1);
    const auto id = submit(spec);
    finish(worker, run_one(worker), crash());
    ASSERT_EQ(state(id), JobState::quarantined);
    pass_with_heartbeats(minutes(5));
    EXPECT_TRUE(commit({DealWithQuarantined{id, Action::release}}).work_appeared);
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::ready);
    EXPECT_EQ(view.generation, 2U);
    EXPECT_EQ(view.total_deadline, now() + hours(1));
    EXPECT_EQ(view.queue_deadline, now() + spec.timeouts.queue);
    const auto attempt = claim_one(worker);
    EXPECT_EQ(attempt.epoch, Epoch{2});
    EXPECT_EQ(job(id).attempts[0].generation, 1U);
    EXPECT_EQ(job(id).attempts[1].generation, 2U);
}

TEST_P(StoreContract, a_new_generation_counts_anew) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    for (int i = 0; i < 3; ++i) {
        finish(worker, run_one(worker), crash());
        pass_with_heartbeats(minutes(1));
        sweep();
    }
    ASSERT_EQ(state(id), JobState::quarantined);
    ASSERT_TRUE(apply(DealWithQuarantined{id, Action::release}).has_value());
    const auto attempt = run_one(worker);
    EXPECT_EQ(job(id).run->counts, CauseCounts{});
    finish(worker, attempt, crash());
    EXPECT_EQ(state(id), JobState::scheduled);
}

TEST_P(StoreContract, what_may_still_run_is_released_only_on_a_persons_word) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    lose(run_one(worker));
    ASSERT_EQ(state(id), JobState::quarantined);
    EXPECT_TRUE(refused(apply(DealWithQuarantined{id, Action::release}), Errc::conflict));
    EXPECT_EQ(job(id).generation, 1U);
    EXPECT_TRUE(apply(DealWithQuarantined{id, Action::release, true}).has_value());
    EXPECT_EQ(job(id).generation, 2U);
}

TEST_P(StoreContract, a_late_result_proves_that_the_old_process_is_dead) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_TRUE(report(worker, attempt, crash()).has_value());
    EXPECT_TRUE(apply(DealWithQuarantined{id, Action::release}).has_value());
}

TEST_P(StoreContract, a_late_ask_after_a_release_is_fenced) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_TRUE(apply(DealWithQuarantined{id, Action::release, true}).has_value());
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::accept);
    EXPECT_TRUE(refused(start(worker, attempt), Errc::fenced));
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::file_late);
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, accepting_ends_a_generation_with_the_late_result) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_TRUE(refused(apply(DealWithQuarantined{id, Action::accept}), Errc::conflict));
    ASSERT_TRUE(report(worker, attempt, success()).has_value());
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_TRUE(apply(DealWithQuarantined{id, Action::accept}).has_value());
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::succeeded);
    EXPECT_EQ(view.generation, 2U);
    EXPECT_EQ(view.cause, Cause::exit);
    EXPECT_EQ(view.attempts.size(), 1U);
}

TEST_P(StoreContract, accepting_a_failure_fails_the_job) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_TRUE(report(worker, attempt, exit_with(2)).has_value());
    EXPECT_TRUE(apply(DealWithQuarantined{id, Action::accept}).has_value());
    EXPECT_EQ(state(id), JobState::failed);
}

TEST_P(StoreContract, discarding_marks_a_quarantined_job_once) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    finish(worker, run_one(worker), crash());
    EXPECT_FALSE(job(id).discarded);
    EXPECT_TRUE(apply(DealWithQuarantined{id, Action::discard}).has_value());
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_TRUE(job(id).discarded);
    EXPECT_TRUE(job(id).may_have_run);
    EXPECT_EQ(job(id).generation, 1U);
    EXPECT_TRUE(refused(apply(DealWithQuarantined{id, Action::discard}), Errc::conflict));
}

// [P6] Its key, its limit, its slot and the queue behind it, in the very transaction.
TEST_P(StoreContract, a_quarantined_job_frees_all_that_it_had_at_once) {
    define_limit("gpu", 1);
    const auto worker = open_session({.slots = 1});
    auto spec = Wanted::once();
    spec.key = "k";
    spec.limits = {"gpu"};
    const auto poison = submit(spec);
    auto same = Wanted::keyed("k");
    same.limits = {"gpu"};
    const auto behind = submit(same);
    const auto attempt = run_one(worker);
    ASSERT_EQ(attempt.job, poison);
    EXPECT_TRUE(claim(open_session({.name = "worker-2"})).empty());
    ASSERT_EQ(state(behind), JobState::blocked);
    const auto reply = commit({Report{worker, attempt, crash(), nullptr}});
    EXPECT_TRUE(reply.work_appeared);
    EXPECT_EQ(state(poison), JobState::quarantined);
    EXPECT_EQ(claim_one(worker).job, behind) << "on the same slot, with the same key and limit";
    for (const auto& holder : audit().holders) EXPECT_EQ(holder.job, behind);
}

// E2: what was asked stays as it is.
TEST_P(StoreContract, a_released_job_keeps_its_settings) {
    const auto worker = open_session();
    auto spec = Wanted::once();
    spec.priority = 2;
    spec.key = "k";
    spec.queue = "mail";
    spec.timeouts.run = minutes(7);
    spec.policy.retries = 0;
    const auto id = submit(spec);
    const auto before = job(id).spec;
    finish(worker, run_one(worker), crash());
    ASSERT_TRUE(apply(DealWithQuarantined{id, Action::release}).has_value());
    const auto again = claim(worker).front();
    EXPECT_EQ(again.attempt.job, id);
    EXPECT_EQ(body_hash(*again.spec), body_hash(*before));
}

TEST_P(StoreContract, a_quarantined_job_holds_nothing_back) {
    const auto worker = open_session();
    auto spec = Wanted::keyed("k");
    spec.effects = Effects::once;
    submit(spec);
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, crash());
    EXPECT_EQ(state(attempt.job), JobState::quarantined);
    EXPECT_EQ(state(second), JobState::ready);
}

}  // namespace
}  // namespace perdure::contract
