#include "base/time.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace perdure::time_test {
namespace {

template <class A, class B>
concept comparable = requires(A a, B b) {
    a < b;
};
template <class A, class B>
concept subtractable = requires(A a, B b) {
    a - b;
};

// T1: no server compares its wall clock with service time by accident.
TEST(Time, an_instant_of_one_clock_cannot_meet_one_of_another) {
    static_assert(comparable<ServiceTime, ServiceTime>);
    static_assert(!comparable<ServiceTime, WallTime>);
    static_assert(!comparable<BootTime, MonoTime>);
    static_assert(!subtractable<BootTime, ServiceTime>);
    static_assert(!std::is_convertible_v<WallTime, ServiceTime>);
    static_assert(!comparable<Duration, WallTime>);
}

TEST(Time, a_distance_of_two_instants_is_a_duration) {
    static_assert(std::is_same_v<decltype(WallTime{} - WallTime{}), Duration>);
    EXPECT_EQ(WallTime{1'500'000} - WallTime{500'000}, seconds(1));
    EXPECT_EQ(WallTime{500'000} + seconds(1), WallTime{1'500'000});
    EXPECT_EQ(WallTime{500'000} - seconds(1), WallTime{-500'000});
}

TEST(Time, units_are_what_they_say) {
    EXPECT_EQ(microseconds(1'000), milliseconds(1));
    EXPECT_EQ(milliseconds(1'000), seconds(1));
    EXPECT_EQ(seconds(60), minutes(1));
    EXPECT_EQ(minutes(60), hours(1));
    EXPECT_EQ(hours(24), days(1));
    EXPECT_EQ(days(1).us, 86'400'000'000);
}

TEST(Duration, is_a_number_of_microseconds) {
    EXPECT_EQ(seconds(2) + milliseconds(1), microseconds(2'001'000));
    EXPECT_EQ(seconds(2) * 3 - seconds(1), seconds(5));
    EXPECT_EQ(seconds(3) / 2, milliseconds(1'500));
    EXPECT_LT(Duration{-1}, Duration{});
    EXPECT_DOUBLE_EQ(milliseconds(250).seconds(), 0.25);
}

}  // namespace
}  // namespace perdure::time_test
