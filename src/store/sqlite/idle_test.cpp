// Idle costs nothing (T4): what stays in memory, until when, and what a crash takes with it.
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

class IdleOnDisk : public OnDisk {
protected:
    IdleOnDisk() {
        open();
        OpenSession change{.session = session, .life = 1, .slots = 4, .lease = timing.lease};
        EXPECT_TRUE(commit({change, OpenStream{session}, heartbeat()}).has_value());
    }

    Heartbeat heartbeat() {
        return {.session = session, .number = ++number, .slots = 4, .lease = timing.lease};
    }
    // A second passes; the worker is heard. Answers the newest tick that is durable.
    std::uint64_t beat() {
        const auto reply = commit({tick(), heartbeat()});
        EXPECT_TRUE(reply.has_value());
        for (const auto& one : reply->replies) EXPECT_TRUE(one.has_value());
        EXPECT_EQ(reply->clock.tick, clock.tick);
        return reply->written_tick;
    }
    Tick tick() {
        const auto seen = clock.tick++;
        clock.now = clock.now + seconds(1);
        return {seen, clock};
    }
    bool claims() {
        const auto reply = commit({Claim{session, 1, 1}});
        return reply && reply->replies.front().has_value();
    }
    ServiceTick on_disk() { return run(store->service())->clock; }

    const Timing timing;
    const SessionId session{20};
    ServiceTick clock;
    std::uint64_t number = 0;
};

TEST_F(IdleOnDisk, ticks_and_renewals_stay_in_memory_for_a_while) {
    EXPECT_EQ(beat(), 0U);
    for (int i = 1; i < 14; ++i) EXPECT_EQ(beat(), 0U) << i;
    EXPECT_EQ(on_disk().tick, 0U) << "what is read is what is written";
    std::uint64_t written = 0;
    while (written == 0 && clock.tick < 30) written = beat();
    EXPECT_LE(clock.now - ServiceTime{}, timing.unwritten + seconds(2));
    EXPECT_EQ(written, clock.tick);
    EXPECT_EQ(on_disk(), clock);
}

TEST_F(IdleOnDisk, what_is_unwritten_goes_ahead_of_the_next_group_that_is_written) {
    for (int i = 0; i < 5; ++i) beat();
    ASSERT_TRUE(commit({submit(10)}).has_value());
    EXPECT_EQ(on_disk(), clock);
    EXPECT_EQ(run(store->session(session))->heartbeat, number);
    EXPECT_EQ(beat(), clock.tick) << "there is work now";
}

// A row that cannot be written undoes its own group alone.
TEST_F(IdleOnDisk, a_group_that_fails_takes_nothing_with_it) {
    ASSERT_TRUE(commit({submit(10)}).has_value());
    ASSERT_TRUE(commit({Cancel{JobId{10}}}).has_value());
    reopen();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    ASSERT_TRUE(commit({heartbeat()}).has_value());
    for (int i = 0; i < 5; ++i) beat();
    ASSERT_TRUE(commit({DealWithQuarantined{JobId{10}}})->replies.front().is(Errc::corrupt));
    EXPECT_EQ(on_disk(), clock);
    EXPECT_EQ(run(store->session(session))->heartbeat, number);
}

TEST_F(IdleOnDisk, a_deadline_that_comes_near_is_met_by_written_time) {
    auto spec = *submit(10).spec;
    spec.run_at = WallTime{2} + timing.unwritten_before_due;
    const Submit dated{JobId{10}, std::make_shared<const JobSpec>(spec), 1};
    ASSERT_TRUE(commit({dated}).has_value());
    EXPECT_EQ(beat(), clock.tick);
}

TEST_F(IdleOnDisk, news_are_written) {
    for (int i = 0; i < 4; ++i) {
        EXPECT_LT(beat(), clock.tick);
        auto news = heartbeat();
        if (i == 0) news.slots = 3;
        if (i == 1) news.slots = 3, news.draining = true;
        if (i == 2) news.slots = 4, news.offer.queues = {"mail"};
        if (i == 3) news.lease = timing.detach_lease;
        const auto reply = commit({tick(), news});
        EXPECT_EQ(reply->written_tick, clock.tick) << i;
        ASSERT_TRUE(commit({heartbeat()}).has_value());
    }
}

// Else a go is given under the disk's older lease: the key is given away while the shim goes on.
TEST_F(IdleOnDisk, after_a_crash_a_session_gets_nothing_until_it_is_heard) {
    const auto heard_before = number;
    for (int i = 0; i < 3; ++i) beat();
    store->crash();
    EXPECT_EQ(run(store->session(session))->heartbeat, heard_before);
    last_group = 1;
    clock = {};
    ASSERT_TRUE(commit({submit(10)}).has_value());
    EXPECT_FALSE(claims());
    ASSERT_TRUE(commit({heartbeat()}).has_value());
    EXPECT_EQ(run(store->session(session))->heartbeat, number) << "the first one is written";
    EXPECT_TRUE(claims());
}

TEST_F(IdleOnDisk, a_store_that_is_closed_leaves_nothing_unwritten) {
    for (int i = 0; i < 3; ++i) beat();
    reopen();
    EXPECT_EQ(on_disk(), clock);
}

}  // namespace
}  // namespace perdure
