// What a sweep looks at, and how waiting jobs move [P3] (O2, O7, E5).
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

using Kind = WaitDecision::Kind;

TEST_P(StoreContract, a_retry_becomes_ready_when_it_is_due) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), crash());
    const auto due = *job(id).due;
    pass(due - now() - microseconds(1));
    EXPECT_TRUE(overdue().waits.empty());
    pass(microseconds(1));
    ASSERT_EQ(overdue().waits.size(), 1U);
    EXPECT_EQ(overdue().waits[0].job, id);
    EXPECT_EQ(overdue().waits[0].epoch, Epoch{1});
    EXPECT_TRUE(commit(decided(overdue())).work_appeared);
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(job(id).queue_deadline, now() + job(id).spec->timeouts.queue);
}

TEST_P(StoreContract, a_dated_job_becomes_ready_by_wall_time_alone) {
    auto spec = Wanted::job();
    spec.run_at = wall + hours(1);
    const auto id = submit(spec);
    pass(days(2));
    EXPECT_TRUE(overdue().waits.empty());
    wall = wall + hours(1);
    ASSERT_EQ(overdue().waits.size(), 1U);
    sweep();
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, a_job_that_nobody_takes_expires) {
    auto spec = Wanted::job();
    spec.timeouts.queue = minutes(10);
    const auto id = submit(spec);
    pass(minutes(10) - microseconds(1));
    EXPECT_TRUE(overdue().waits.empty());
    pass(microseconds(1));
    sweep();
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::expired);
    EXPECT_EQ(view.cause, Cause::timeout_queue);
    EXPECT_EQ(view.rule, "E5/queue");
    EXPECT_TRUE(overdue().waits.empty());
}

TEST_P(StoreContract, a_blocked_job_expires_as_well) {
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    auto spec = Wanted::keyed("k");
    spec.timeouts.queue = minutes(1);
    const auto id = submit(spec);
    run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    pass_with_heartbeats(minutes(1));
    sweep();
    EXPECT_EQ(state(id), JobState::expired);
}

TEST_P(StoreContract, the_total_timeout_fails_a_job_that_waits) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.timeouts.total = seconds(10);
    const auto id = submit(spec);
    finish(worker, run_one(worker), wants_to_run_at(wall + hours(1)));
    pass(seconds(10));
    ASSERT_EQ(overdue().waits.size(), 1U);
    sweep();
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_EQ(job(id).cause, Cause::timeout_total);
}

TEST_P(StoreContract, the_total_timeout_orders_the_kill_of_a_job_that_runs) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.timeouts.total = seconds(10);
    const auto id = submit(spec);
    run_one(worker);
    pass_with_heartbeats(seconds(10));
    ASSERT_EQ(overdue().waits.size(), 1U);
    sweep();
    EXPECT_EQ(state(id), JobState::running);
    EXPECT_EQ(job(id).run->order, Cause::timeout_total);
    EXPECT_TRUE(overdue().waits.empty()) << "once is enough";
}

TEST_P(StoreContract, a_move_for_another_state_or_epoch_is_refused) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.timeouts.queue = seconds(1);
    const auto id = submit(spec);
    pass(seconds(1));
    const auto changes = decided(overdue());
    ASSERT_EQ(changes.size(), 1U);
    const auto attempt = run_one(worker);
    EXPECT_TRUE(refused(commit(changes).replies[0], Errc::conflict));
    finish(worker, attempt, conflict_with_somebody());
    pass(seconds(1));
    EXPECT_TRUE(refused(commit(changes).replies[0], Errc::conflict));
    EXPECT_EQ(state(id), JobState::ready);
    auto unknown = std::get<MoveWaiting>(changes[0]);
    unknown.job = JobId{next_id()};
    EXPECT_TRUE(refused(apply(unknown), Errc::not_found));
}

TEST_P(StoreContract, a_move_that_rests_on_an_older_deadline_is_refused) {
    auto spec = Wanted::job();
    spec.timeouts.queue = seconds(1);
    const auto id = submit(spec);
    pass(seconds(1));
    const auto changes = decided(overdue());
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    ASSERT_TRUE(apply(Hold{id, false}).has_value());
    EXPECT_TRUE(refused(commit(changes).replies[0], Errc::conflict));
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, an_ended_job_is_never_moved) {
    const auto id = submit(Wanted::job());
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    for (const auto kind : {Kind::make_ready, Kind::expire, Kind::fail}) {
        const MoveWaiting change{id, Epoch{0}, JobState::cancelled, {kind}};
        EXPECT_TRUE(refused(apply(change), Errc::conflict));
    }
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(StoreContract, an_attempt_is_overdue_when_its_lease_ends) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    pass(timing.lease - microseconds(1));
    EXPECT_TRUE(overdue().runs.empty());
    pass(microseconds(1));
    const auto runs = overdue().runs;
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].run.attempt, attempt);
    EXPECT_EQ(runs[0].run.session, worker);
    EXPECT_EQ(runs[0].renewal, session(worker).renewal);
    EXPECT_EQ(runs[0].facts.state, JobState::running);
    EXPECT_EQ(runs[0].facts.terms, job(id).run->terms);
    EXPECT_EQ(runs[0].facts.lease_deadline, session(worker).lease_deadline);
    EXPECT_EQ(runs[0].facts.clock.now, now());
    EXPECT_TRUE(runs[0].facts.alone);
}

TEST_P(StoreContract, attempts_of_one_session_are_not_alone) {
    const auto worker = open_session();
    submit(Wanted::job());
    submit(Wanted::job());
    run_one(worker);
    run_one(worker);
    pass(timing.lease);
    const auto runs = overdue().runs;
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_FALSE(runs[0].facts.alone);
    EXPECT_FALSE(runs[1].facts.alone);
}

TEST_P(StoreContract, a_once_attempt_is_given_up_only_after_its_hold) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    run_one(worker);
    pass(timing.lease + timing.hold - microseconds(1));
    EXPECT_TRUE(overdue().runs.empty());
    EXPECT_EQ(state(id), JobState::running);
    pass(microseconds(1));
    sweep();
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_TRUE(job(id).may_have_run);
}

TEST_P(StoreContract, an_unconfirmed_start_is_overdue_while_the_session_lives) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = claim_one(worker);
    pass_with_heartbeats(timing.confirm - microseconds(1));
    EXPECT_TRUE(overdue().runs.empty());
    pass(microseconds(1));
    const auto runs = overdue().runs;
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].run.attempt, attempt);
    EXPECT_TRUE(runs[0].facts.saw_assignment);
    EXPECT_EQ(runs[0].facts.state, JobState::starting);
}

TEST_P(StoreContract, silence_about_an_assignment_that_was_never_seen_is_told_apart) {
    const auto worker = open_session();
    submit(Wanted::job());
    claim_one(worker);
    auto heartbeat = renewal_of(worker);
    heartbeat.seen = 0;
    ASSERT_TRUE(apply(heartbeat).has_value());
    pass(timing.confirm);
    const auto runs = overdue().runs;
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_FALSE(runs[0].facts.saw_assignment);
}

TEST_P(StoreContract, in_the_grace_after_an_outage_nothing_ends) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    const auto clock = run(store().service())->clock;
    const ServiceTick graced{clock.tick + 1, clock.now, clock.now + timing.grace};
    ASSERT_TRUE(apply(Tick{clock.tick, graced}).has_value());
    sweep();
    EXPECT_EQ(state(id), JobState::running);
    pass(timing.grace);
    sweep();
    EXPECT_NE(state(id), JobState::running);
}

TEST_P(StoreContract, a_sweep_sees_at_most_as_much_of_each_kind_as_it_asks_for) {
    const auto worker = open_session();
    for (int i = 0; i < 3; ++i) {
        submit(Wanted::job());
        run_one(worker);
    }
    auto spec = Wanted::job();
    spec.timeouts.queue = seconds(1);
    for (int i = 0; i < 3; ++i) submit(spec);
    spec.run_at = wall + seconds(1);
    for (int i = 0; i < 3; ++i) submit(spec);
    wall = wall + seconds(1);
    pass(timing.lease);
    EXPECT_EQ(overdue(2).runs.size(), 2U);
    EXPECT_EQ(overdue(2).waits.size(), 2U);
    EXPECT_EQ(overdue(5).waits.size(), 5U);
    EXPECT_EQ(overdue().runs.size(), 3U);
    EXPECT_EQ(overdue().waits.size(), 6U);
    sweep();
    EXPECT_TRUE(overdue().runs.empty());
    EXPECT_TRUE(overdue().waits.empty());
}

}  // namespace
}  // namespace perdure::contract
