// Service time and the keeper's role (T2), and when a server may tick slowly.
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_tick_advances_service_time) {
    const auto clock = run(store().service())->clock;
    const ServiceTick next{clock.tick + 1, clock.now + milliseconds(500), clock.now + seconds(5)};
    const auto reply = commit({Tick{clock.tick, next}});
    EXPECT_TRUE(reply.replies.front().has_value());
    EXPECT_EQ(reply.clock, next);
    EXPECT_EQ(run(store().service())->clock, next);
}

TEST_P(StoreContract, two_servers_never_add_the_same_second) {
    const auto clock = run(store().service())->clock;
    const Tick tick{clock.tick, {clock.tick + 1, clock.now + seconds(1), {}}};
    EXPECT_TRUE(commit(server, {tick}).replies.front().has_value());
    const auto second = commit(other_server, {tick});
    EXPECT_TRUE(refused(second.replies.front(), Errc::conflict));
    EXPECT_EQ(second.clock, tick.next);
}

// T2: what makes a deadline is made again by its server, from a time that is not old.
TEST_P(StoreContract, nothing_behind_a_tick_that_came_too_late_is_done) {
    const auto clock = run(store().service())->clock;
    const Tick tick{clock.tick, {clock.tick + 1, clock.now + milliseconds(400), {}}, clock.now};
    const auto worker = open_session();
    const auto change = submit_of(Wanted::job());
    pass(milliseconds(100));
    const auto before = describe(session(worker));
    const auto reply = commit(other_server, {tick, heartbeat_of(worker), change});
    for (const auto& refusal : reply.replies) EXPECT_TRUE(refused(refusal, Errc::conflict));
    EXPECT_EQ(describe(session(worker)), before);
    EXPECT_TRUE(run(store().jobs({change.id}))->empty());
}

// Two servers may both write tick n + 1; behind its own lost one a server must not build on that.
TEST_P(StoreContract, a_leading_tick_counts_only_on_the_very_time_it_was_made_from) {
    const auto clock = run(store().service())->clock;
    const auto mine = clock.now + milliseconds(200);
    pass(milliseconds(100));
    const Tick next{clock.tick + 1, {clock.tick + 2, mine + milliseconds(50), {}}, mine};
    EXPECT_TRUE(refused(apply(next), Errc::conflict));
    EXPECT_EQ(now(), clock.now + milliseconds(100));
}

TEST_P(StoreContract, a_wait_counts_from_the_tick_that_leads_its_group) {
    const auto clock = run(store().service())->clock;
    const Tick tick{clock.tick, {clock.tick + 1, clock.now + milliseconds(400), {}}, clock.now};
    auto spec = Wanted::job();
    spec.timeouts.queue = seconds(1);
    const auto change = submit_of(spec);
    ASSERT_TRUE(commit({tick, change}).replies.back().has_value());
    EXPECT_EQ(job(change.id).queue_deadline, clock.now + milliseconds(1'400));
}

TEST_P(StoreContract, service_time_never_goes_back) {
    pass(seconds(10));
    const auto clock = run(store().service())->clock;
    auto next = clock;
    ++next.tick;
    next.now = clock.now - microseconds(1);
    EXPECT_TRUE(refused(apply(Tick{clock.tick, next}), Errc::invalid));
    next = clock;  // the number must rise with it
    next.now = clock.now + seconds(1);
    EXPECT_TRUE(refused(apply(Tick{clock.tick, next}), Errc::invalid));
    EXPECT_EQ(run(store().service())->clock, clock);
}

TEST_P(StoreContract, service_time_stands_still_without_a_tick) {
    const auto before = now();
    wall = wall + days(8);
    submit(Wanted::job());
    EXPECT_EQ(now(), before);
}

TEST_P(StoreContract, an_empty_store_is_idle) {
    EXPECT_TRUE(run(store().service())->idle);
    open_session();
    EXPECT_TRUE(run(store().service())->idle);
}

TEST_P(StoreContract, a_store_with_work_is_not_idle_until_it_has_ended) {
    const auto worker = open_session();
    submit(Wanted::job());
    EXPECT_FALSE(run(store().service())->idle);
    const auto attempt = run_one(worker);
    EXPECT_FALSE(run(store().service())->idle);
    finish(worker, attempt, success());
    EXPECT_TRUE(run(store().service())->idle);
}

TEST_P(StoreContract, a_job_that_is_not_due_soon_leaves_the_store_idle) {
    auto spec = Wanted::job();
    spec.run_at = wall + timing.idle_tick + seconds(1);
    submit(spec);
    EXPECT_TRUE(run(store().service())->idle);
    wall = wall + seconds(1);
    commit({});
    EXPECT_FALSE(run(store().service())->idle);
}

TEST_P(StoreContract, a_retry_that_is_due_soon_keeps_the_store_awake) {
    const auto worker = open_session();
    submit(Wanted::job());
    finish(worker, run_one(worker), crash());
    EXPECT_FALSE(run(store().service())->idle);
}

// Without it nobody sweeps before the next time that everything is looked at.
TEST_P(StoreContract, a_reply_says_whether_attempts_are_overdue) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    EXPECT_FALSE(commit({}).attempts_overdue);
    pass(session(worker).lease_deadline - now());
    EXPECT_TRUE(commit({}).attempts_overdue);
    lose(attempt);
    EXPECT_FALSE(commit({}).attempts_overdue);
}

TEST_P(StoreContract, a_reply_knows_the_last_tick_that_is_written) {
    pass(seconds(1));
    const auto reply = commit({});
    EXPECT_EQ(reply.written_tick, reply.clock.tick);
    EXPECT_GT(reply.written_tick, 0U);
}

TEST_P(StoreContract, the_keepers_role_is_taken_only_from_whom_it_was_read) {
    const auto vacant = run(store().service())->keeper;
    const KeeperRole mine{server.id, vacant.epoch + 1, now() + timing.keeper};
    const KeeperRole theirs{other_server.id, vacant.epoch + 1, now() + timing.keeper};
    EXPECT_TRUE(apply(TakeKeeper{vacant, mine}).has_value());
    EXPECT_TRUE(refused(apply(TakeKeeper{vacant, theirs}), Errc::conflict));
    EXPECT_EQ(run(store().service())->keeper, mine);
}

}  // namespace
}  // namespace perdure::contract
