#include "server/seen_ticks.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

BootTime at(Duration later) { return BootTime{} + hours(1) + later; }

ServiceTick row(std::uint64_t tick) {
    return {.tick = tick, .now = ServiceTime{} + seconds(static_cast<std::int64_t>(tick))};
}

class SeenTicksTest : public testing::Test {
protected:
    SeenTicksTest() { seen.open(row(10), at({})); }
    // A reply that was asked for just now.
    bool saw(std::uint64_t tick, Duration later) {
        return seen.saw(row(tick), at(later - milliseconds(1)), at(later));
    }

    Timing timing;
    SeenTicks seen{timing};
};

TEST_F(SeenTicksTest, what_was_there_at_the_start_is_nobodys_and_what_follows_anothers) {
    EXPECT_FALSE(seen.newest().of_another);
    EXPECT_TRUE(saw(11, seconds(1)));
    EXPECT_TRUE(seen.newest().of_another);
    EXPECT_EQ(seen.newest().at, at(seconds(1)));
}

TEST_F(SeenTicksTest, a_tick_counts_from_the_reply_that_first_showed_it) {
    saw(11, seconds(1));
    saw(11, seconds(2));
    EXPECT_EQ(seen.newest().at, at(seconds(1)));
}

// Else the server would leave the leading ticks to one that is not there, and waits would end
// early.
TEST_F(SeenTicksTest, a_tick_of_its_own_is_known_and_counts_from_its_sending) {
    saw(11, seconds(1));
    seen.note_own({row(11), at(milliseconds(900))});
    EXPECT_FALSE(seen.newest().of_another);
    EXPECT_EQ(seen.newest().sent_at, at(milliseconds(900)));
}

TEST_F(SeenTicksTest, a_tick_that_was_not_seen_or_says_something_else_is_not_its_own) {
    saw(11, seconds(1));
    seen.note_own({row(12), at({})});
    auto other = row(11);
    other.now = other.now + milliseconds(1);
    seen.note_own({other, at({})});
    EXPECT_TRUE(seen.newest().of_another);
}

TEST_F(SeenTicksTest, a_tick_whose_reply_was_lost_is_known_when_it_is_shown) {
    seen.note_own_unanswered({row(11), at(milliseconds(900))});
    saw(11, seconds(1));
    EXPECT_FALSE(seen.newest().of_another);
    EXPECT_EQ(seen.newest().sent_at, at(milliseconds(900)));
}

TEST_F(SeenTicksTest, of_several_that_rest_on_one_tick_the_first_counts) {
    seen.note_own_unanswered({row(11), at(milliseconds(800))});
    seen.note_own_unanswered({row(11), at(milliseconds(900))});
    saw(11, seconds(1));
    EXPECT_EQ(seen.newest().sent_at, at(milliseconds(800)));
}

// C6
TEST_F(SeenTicksTest, a_store_that_is_behind_what_was_written_has_lost_commits) {
    saw(12, seconds(1));
    seen.note_written(12, at(seconds(1)));
    EXPECT_FALSE(saw(11, seconds(2)));
}

TEST_F(SeenTicksTest, a_read_that_a_newer_reply_has_overtaken_says_nothing) {
    saw(12, seconds(1));
    seen.note_written(12, at(seconds(1)));
    saw(13, seconds(3));
    EXPECT_TRUE(seen.saw(row(11), at(seconds(2)), at(seconds(4))));
    EXPECT_EQ(seen.newest().clock.tick, 13U);
}

// The store has said so when the read was already under way.
TEST_F(SeenTicksTest, a_read_that_was_asked_for_before_the_tick_was_written_says_nothing) {
    saw(12, seconds(1));
    seen.note_written(12, at(seconds(3)));
    EXPECT_TRUE(seen.saw(row(11), at(seconds(2)), at(seconds(4))));
}

// T4: a crash may take back what had stayed in memory.
TEST_F(SeenTicksTest, a_store_that_is_behind_only_by_what_was_never_written_has_lost_nothing) {
    saw(12, seconds(1));
    seen.note_written(11, at(seconds(1)));
    EXPECT_TRUE(saw(11, seconds(2)));
    EXPECT_EQ(seen.written(), 11U);
}

TEST_F(SeenTicksTest, what_is_written_never_goes_back) {
    seen.note_written(12, at(seconds(1)));
    seen.note_written(11, at(seconds(2)));
    EXPECT_EQ(seen.written(), 12U);
}

// T2: of another's tick only its reply is known, of its own also when it was sent.
TEST_F(SeenTicksTest, the_next_tick_adds_the_real_time_since_the_last_one) {
    saw(11, seconds(3));
    EXPECT_EQ(seen.next(at(milliseconds(3'400)), {}).next.now, row(11).now + milliseconds(400));
    seen.note_own({row(11), at(milliseconds(2'900))});
    const auto tick = seen.next(at(milliseconds(3'400)), {});
    EXPECT_EQ(tick.next.now, row(11).now + milliseconds(500));
    EXPECT_EQ(tick.next.tick, 12U);
    EXPECT_EQ(tick.seen_tick, 11U);
    EXPECT_EQ(tick.leads_from, row(11).now);
}

TEST_F(SeenTicksTest, a_tick_behind_one_that_is_not_answered_builds_on_that_one) {
    saw(11, seconds(3));
    seen.note_own({row(11), at(milliseconds(2'900))});
    const SentTick ahead{row(12), at(milliseconds(3'300))};
    const auto tick = seen.next(at(milliseconds(3'400)), ahead);
    EXPECT_EQ(tick.seen_tick, 12U);
    EXPECT_EQ(tick.next.now, row(12).now + milliseconds(100));
    EXPECT_EQ(tick.leads_from, row(12).now);
}

// It cannot know for how long nobody has ticked before.
TEST_F(SeenTicksTest, the_first_tick_of_a_new_server_grants_grace) {
    const auto tick = seen.next(at(milliseconds(100)), {});
    EXPECT_EQ(tick.next.grace_until, tick.next.now + timing.grace);
}

}  // namespace
}  // namespace perdure
