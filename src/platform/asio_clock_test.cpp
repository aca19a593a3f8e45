#include "platform/asio_clock.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ports/gate.h"

namespace perdure {
namespace {

constexpr auto very_long = hours(1'000);

Task<void> wait_and_note(Alarm& alarm, Duration longest, std::string name,
                         std::vector<std::string>& notes) {
    co_await alarm.wait(longest);
    notes.push_back(std::move(name));
}

Task<void> wait_twice(Alarm& alarm, std::vector<std::string>& notes) {
    co_await alarm.wait(very_long);
    notes.push_back("first");
    co_await alarm.wait(very_long);
    notes.push_back("second");
}

// No test waits for time to pass: alarms are rung, or their time has passed already.
class AsioClockTest : public testing::Test {
protected:
    void wait(Alarm& alarm, Duration longest, std::string name = "woken") {
        gate_.spawn(name, wait_and_note(alarm, longest, name, notes_));
    }
    // Runs what can run; an alarm whose time is far away keeps nobody.
    void run_ready() {
        context_.restart();
        context_.poll();
    }
    using Notes = std::vector<std::string>;

    boost::asio::io_context context_;
    AsioClock clock_{context_};
    Gate gate_{clock_.executor()};
    Notes notes_;
};

TEST_F(AsioClockTest, boot_time_never_goes_back) {
    auto last = clock_.boot();
    for (int i = 0; i < 1'000; ++i) {
        const auto now = clock_.boot();
        EXPECT_GE(now, last);
        last = now;
    }
}

TEST_F(AsioClockTest, wall_time_is_a_date) {
    EXPECT_GT(clock_.wall().us, seconds(1'700'000'000).us);
    EXPECT_LT(clock_.wall().us, seconds(10'000'000'000).us);
}

TEST_F(AsioClockTest, an_alarm_whose_time_has_passed_returns) {
    auto alarm = clock_.make_alarm();
    for (const auto longest : {Duration{0}, milliseconds(-5), Duration{} - very_long}) {
        notes_.clear();
        wait(*alarm, longest);
        context_.restart();
        context_.run();
        EXPECT_EQ(notes_, Notes{"woken"});
    }
}

TEST_F(AsioClockTest, an_alarm_does_not_return_before_its_time) {
    auto alarm = clock_.make_alarm();
    const auto longest = milliseconds(3);
    const auto begun = clock_.boot();
    wait(*alarm, longest);
    context_.run();
    EXPECT_GE(clock_.boot() - begun, longest);
    EXPECT_EQ(notes_, Notes{"woken"});
}

TEST_F(AsioClockTest, earlier_alarms_return_first) {
    auto late = clock_.make_alarm();
    auto early = clock_.make_alarm();
    wait(*late, hours(-1), "late");
    wait(*early, hours(-2), "early");
    context_.run();
    // Both had passed when the loop looked; it goes by their time, not by their turn.
    EXPECT_EQ(notes_, (Notes{"early", "late"}));
}

TEST_F(AsioClockTest, a_ring_wakes_the_one_that_waits) {
    auto alarm = clock_.make_alarm();
    wait(*alarm, very_long);
    run_ready();
    EXPECT_EQ(notes_, Notes{});
    alarm->ring();
    EXPECT_EQ(notes_, Notes{}) << "nothing may change under the one who rings";
    context_.restart();
    context_.run();  // returns: the timer of a rung alarm keeps nobody waiting
    EXPECT_EQ(notes_, Notes{"woken"});
    EXPECT_TRUE(gate_.empty());
}

TEST_F(AsioClockTest, a_ring_before_the_wait_is_remembered) {
    auto alarm = clock_.make_alarm();
    alarm->ring();
    wait(*alarm, very_long);
    context_.run();
    EXPECT_EQ(notes_, Notes{"woken"});
}

TEST_F(AsioClockTest, several_rings_before_the_wait_count_as_one) {
    auto alarm = clock_.make_alarm();
    alarm->ring();
    alarm->ring();
    gate_.spawn("twice", wait_twice(*alarm, notes_));
    run_ready();
    EXPECT_EQ(notes_, Notes{"first"});
    alarm->ring();
    run_ready();
    EXPECT_EQ(notes_, (Notes{"first", "second"}));
}

TEST_F(AsioClockTest, several_rings_during_the_wait_count_as_one) {
    auto alarm = clock_.make_alarm();
    gate_.spawn("twice", wait_twice(*alarm, notes_));
    run_ready();
    alarm->ring();
    alarm->ring();  // woken, but it has not run yet
    run_ready();
    EXPECT_EQ(notes_, Notes{"first"});
    alarm->ring();
    run_ready();
    EXPECT_EQ(notes_, (Notes{"first", "second"}));
}

TEST_F(AsioClockTest, rung_alarms_return_in_the_order_of_the_rings) {
    auto first = clock_.make_alarm();
    auto second = clock_.make_alarm();
    wait(*first, very_long, "first");
    wait(*second, very_long, "second");
    run_ready();
    second->ring();
    first->ring();
    run_ready();
    EXPECT_EQ(notes_, (Notes{"second", "first"}));
}

TEST_F(AsioClockTest, the_cancelled_timer_of_a_wait_does_not_end_the_next_one) {
    auto alarm = clock_.make_alarm();
    gate_.spawn("twice", wait_twice(*alarm, notes_));
    run_ready();
    alarm->ring();  // the coroutine waits again before the loop hears of the cancelled timer
    run_ready();
    EXPECT_EQ(notes_, Notes{"first"});
}

TEST_F(AsioClockTest, a_destroyed_alarm_destroys_the_one_that_waits) {
    auto alarm = clock_.make_alarm();
    wait(*alarm, very_long);
    run_ready();
    alarm.reset();
    context_.restart();
    context_.run();  // nothing is left that it could wait for
    EXPECT_EQ(notes_, Notes{});
}

TEST(AsioClockTeardown, a_context_may_end_while_alarms_are_waited_for) {
    std::vector<std::string> notes;
    std::unique_ptr<Alarm> alarm;  // dies after the frames that wait for it, as in a process
    {
        boost::asio::io_context context;
        AsioClock clock(context);
        alarm = clock.make_alarm();
        Gate gate(clock.executor());
        gate.spawn("waits", wait_and_note(*alarm, very_long, "woken", notes));
        context.poll();
        alarm.reset();
    }
    EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace perdure
