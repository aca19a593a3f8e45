// What a sweep looks at, and how waiting jobs move [P3] (O2, O7, E5).
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_retry_becomes_ready_when_it_is_due) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), crash());
    const auto due = *job(id).due;
    pass(due - now() - microseconds(1));
    EXPECT_TRUE(overdue().waiting.empty());
    pass(microseconds(1));
    EXPECT_EQ(overdue().waiting, std::vector{id});
    EXPECT_TRUE(commit({sweep_of(overdue())}).work_appeared);
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(job(id).queue_deadline, now() + job(id).spec->timeouts.queue);
}

TEST_P(StoreContract, a_dated_job_becomes_ready_by_wall_time_alone) {
    auto spec = Wanted::job();
    spec.run_at = wall + hours(1);
    const auto id = submit(spec);
    pass(days(2));
    EXPECT_TRUE(overdue().waiting.empty());
    wall = wall + hours(1);
    ASSERT_EQ(overdue().waiting.size(), 1U);
    sweep();
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, a_job_that_nobody_takes_expires) {
    auto spec = Wanted::job();
    spec.timeouts.queue = minutes(10);
    const auto id = submit(spec);
    pass(minutes(10) - microseconds(1));
    EXPECT_TRUE(overdue().waiting.empty());
    pass(microseconds(1));
    sweep();
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::expired);
    EXPECT_EQ(view.cause, Cause::timeout_queue);
    EXPECT_EQ(view.rule, "E5/queue");
    EXPECT_TRUE(overdue().waiting.empty());
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
    ASSERT_EQ(overdue().waiting.size(), 1U);
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
    ASSERT_EQ(overdue().waiting.size(), 1U);
    sweep();
    EXPECT_EQ(state(id), JobState::running);
    EXPECT_EQ(job(id).run->kill_cause, Cause::timeout_total);
    EXPECT_TRUE(overdue().waiting.empty()) << "once is enough";
}

TEST_P(StoreContract, what_a_sweep_was_told_of_is_judged_as_it_is_now) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.timeouts.queue = seconds(1);
    const auto id = submit(spec);
    pass(seconds(1));
    const auto change = sweep_of(overdue());
    ASSERT_EQ(change.waiting.size(), 1U);
    const auto attempt = run_one(worker);
    EXPECT_TRUE(get<Swept>(apply(change)).waiting.empty());
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_TRUE(get<Swept>(apply(change)).waiting.empty());
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_TRUE(get<Swept>(apply(Sweep{.waiting = {JobId{next_id()}}})).waiting.empty());
}

TEST_P(StoreContract, a_sweep_that_was_told_of_an_older_deadline_leaves_the_job) {
    auto spec = Wanted::job();
    spec.timeouts.queue = seconds(1);
    const auto id = submit(spec);
    pass(seconds(1));
    const auto change = sweep_of(overdue());
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    ASSERT_TRUE(apply(Hold{id, false}).has_value());
    EXPECT_TRUE(get<Swept>(apply(change)).waiting.empty());
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, an_ended_job_is_never_moved) {
    const auto id = submit(Wanted::job());
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    pass(days(400));
    EXPECT_TRUE(get<Swept>(apply(Sweep{.waiting = {id}})).waiting.empty());
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(StoreContract, an_attempt_is_overdue_when_its_lease_ends) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    pass(timing.lease - microseconds(1));
    EXPECT_TRUE(told().attempts.empty());
    pass(microseconds(1));
    const auto attempts = told().attempts;
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].attempt, attempt);
    EXPECT_EQ(attempts[0].session, worker);
    EXPECT_EQ(attempts[0].seen.silent_for, timing.lease);
    EXPECT_TRUE(attempts[0].end->alone);
}

// Whoever ticks is told, and need not look for it.
TEST_P(StoreContract, a_group_says_when_attempts_may_be_overdue) {
    const auto worker = open_session();
    for (int i = 0; i < 2; ++i) submit(Wanted::job());
    for (int i = 0; i < 2; ++i) run_one(worker);
    const auto clock = run(store().service())->clock;
    const auto tick = [&](std::uint64_t number, Duration later) {
        const ServiceTick next{clock.tick + number, clock.now + later, clock.grace_until};
        return commit({Tick{next.tick - 1, next}}).attempts_overdue;
    };
    EXPECT_FALSE(tick(1, timing.lease - microseconds(1)));
    EXPECT_TRUE(tick(2, timing.lease));
    EXPECT_TRUE(tick(3, timing.lease)) << "until somebody sweeps";
    sweep();
    EXPECT_FALSE(tick(4, timing.lease));
    send_heartbeat(worker);
    claim_one(worker);
    EXPECT_FALSE(tick(5, timing.lease + timing.confirm - microseconds(1)));
    EXPECT_TRUE(tick(6, timing.lease + timing.confirm)) << "an unconfirmed start";
}

TEST_P(StoreContract, attempts_of_one_session_are_not_alone) {
    const auto worker = open_session();
    submit(Wanted::job());
    submit(Wanted::job());
    run_one(worker);
    run_one(worker);
    pass(timing.lease);
    const auto attempts = sweep().attempts;
    ASSERT_EQ(attempts.size(), 2U);
    EXPECT_FALSE(attempts[0].end->alone);
    EXPECT_FALSE(attempts[1].end->alone);
}

TEST_P(StoreContract, a_once_attempt_is_given_up_only_after_its_hold) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    run_one(worker);
    pass(timing.lease + timing.hold - microseconds(1));
    sweep();
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
    EXPECT_TRUE(told().attempts.empty());
    pass(microseconds(1));
    const auto attempts = told().attempts;
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].attempt, attempt);
    EXPECT_TRUE(attempts[0].decision.order_back);
}

TEST_P(StoreContract, silence_about_an_assignment_that_was_never_seen_is_told_apart) {
    const auto worker = open_session();
    submit(Wanted::job());
    claim_one(worker);
    pass(timing.confirm - seconds(1));
    auto heartbeat = heartbeat_of(worker);
    heartbeat.seen = 0;
    heartbeat.attempts.clear();
    EXPECT_EQ(send(heartbeat).resent.size(), 1U);
    pass(seconds(1));
    const auto attempts = told().attempts;
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].decision.rule, "O4/assignment_never_seen");
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
    EXPECT_EQ(overdue(2).waiting.size(), 2U);
    EXPECT_EQ(overdue(5).waiting.size(), 5U);
    EXPECT_EQ(overdue().waiting.size(), 6U);
    EXPECT_EQ(sweep().attempts.size(), 3U);
    EXPECT_TRUE(told().attempts.empty());
    EXPECT_TRUE(overdue().waiting.empty());
}

}  // namespace
}  // namespace perdure::contract
