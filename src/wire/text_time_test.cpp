#include "wire/text_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

TEST(TextTime, writes_utc_with_microseconds) {
    EXPECT_EQ(time_text(WallTime{0}), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(time_text(WallTime{1'794'735'000'250'000}), "2026-11-15T09:30:00.250000Z");
}

TEST(TextTime, reads_any_offset_and_any_precision) {
    const WallTime time{1'794'735'000'250'000};
    EXPECT_EQ(time_value("2026-11-15T09:30:00.25Z"), time);
    EXPECT_EQ(time_value("2026-11-15T11:30:00.250000+02:00"), time);
    EXPECT_EQ(time_value("2026-11-15T04:00:00.25-05:30"), time);
    EXPECT_EQ(time_value("2026-11-15 09:30:00.25z"), time);
}

TEST(TextTime, refuses_what_is_no_time) {
    for (const auto* text :
         {"", "now", "2026-11-15", "2026-11-15T09:30:00", "2026-02-30T00:00:00Z",
          "2026-13-01T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T09:60:00Z",
          "2026-11-15T09:30:00.Z", "2026-11-15T09:30:00.1234567Z", "1969-12-31T23:59:59Z",
          "2026-11-15T09:30:00+2:00", "2026-11-15T09:30:00+99:00", "2026-11-15T09:30:00Zx"})
        EXPECT_FALSE(time_value(text)) << text;
}

RC_GTEST_PROP(TextTime, reads_what_it_has_written, ()) {
    const auto us = *rc::gen::inRange<std::int64_t>(0, 250'000'000'000'000'000);
    RC_ASSERT(time_value(time_text(WallTime{us})) == WallTime{us});
}

TEST(TextDuration, has_units_from_large_to_small) {
    EXPECT_EQ(duration_text(seconds(90)), "1m30s");
    EXPECT_EQ(duration_text(Duration{}), "0s");
    EXPECT_EQ(duration_text(days(7)), "7d");
    EXPECT_EQ(duration_text(microseconds(1'000'001)), "1s1us");
    EXPECT_EQ(duration_value("90s"), seconds(90));
    EXPECT_EQ(duration_value("1h30m"), minutes(90));
    EXPECT_EQ(duration_value("250ms"), milliseconds(250));
}

TEST(TextDuration, refuses_what_is_none) {
    for (const auto* text : {"", "5", "s", "-5s", "5 s", "1.5s", "5m1h", "5s5s", "5x", "1h30",
                             "9223372036854775807d", "99999999999999999999s"})
        EXPECT_FALSE(duration_value(text)) << text;
}

TEST(TextDuration, takes_seconds_that_fit) {
    EXPECT_EQ(duration_of_seconds(0.25), milliseconds(250));
    EXPECT_FALSE(duration_of_seconds(-1));
    EXPECT_FALSE(duration_of_seconds(1e300));
}

RC_GTEST_PROP(TextDuration, reads_what_it_has_written, ()) {
    const auto us = *rc::gen::inRange<std::int64_t>(0, INT64_MAX);
    RC_ASSERT(duration_value(duration_text(Duration{us})) == Duration{us});
}

}  // namespace
}  // namespace perdure
