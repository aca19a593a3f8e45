#include "cli/person_time.h"

#include <gtest/gtest.h>

#include <array>

#include "wire/text_time.h"

namespace perdure::cli::person_time_test {
namespace {

WallTime at(std::string_view text) { return *time_value(text); }

// Berlin in 2026: forward on March 29 at 01:00 UTC, back on October 25 at 01:00 UTC.
Duration berlin(WallTime when) {
    const bool summer = when >= at("2026-03-29T01:00:00Z") && when < at("2026-10-25T01:00:00Z");
    return summer ? hours(2) : hours(1);
}

std::string read(std::string_view text, std::string_view now = "2026-11-15T12:00:00Z") {
    const auto time = read_person_time(text, at(now), berlin);
    return time ? time_text(*time).substr(0, 19) : time.error().what;
}

struct Case {
    std::string_view text;
    std::string_view utc;
};

// 2026-11-15 is a Sunday; it is 13:00 in Berlin.
TEST(PersonTime, is_understood_as_people_mean_it) {
    constexpr std::array cases = {
        Case{"14:30", "2026-11-15T13:30:00"},
        Case{"09:00", "2026-11-16T08:00:00"},
        Case{"9:00", "2026-11-16T08:00:00"},
        Case{"9:00:15", "2026-11-16T08:00:15"},
        Case{"today 17:30", "2026-11-15T16:30:00"},
        Case{"tomorrow 7:30", "2026-11-16T06:30:00"},
        Case{"Tomorrow noon", "2026-11-16T11:00:00"},
        Case{"tomorrow midnight", "2026-11-15T23:00:00"},
        Case{"midnight", "2026-11-15T23:00:00"},
        Case{"monday 8:00", "2026-11-16T07:00:00"},
        Case{"sun 14:00", "2026-11-15T13:00:00"},
        Case{"sun 12:00", "2026-11-22T11:00:00"},
        Case{"2026-11-20 09:00", "2026-11-20T08:00:00"},
        Case{"2026-11-20T09:00", "2026-11-20T08:00:00"},
        Case{"2026-07-01 09:00", "2026-07-01T07:00:00"},
        Case{"2026-11-20T09:00:00+05:00", "2026-11-20T04:00:00"},
        Case{"2026-11-20T09:00:00Z", "2026-11-20T09:00:00"},
        Case{"+2h", "2026-11-15T14:00:00"},
        Case{"+1d30m", "2026-11-16T12:30:00"},
        Case{"now", "2026-11-15T12:00:00"},
    };
    for (const auto& [text, utc] : cases) EXPECT_EQ(read(text), utc) << text;
}

TEST(PersonTime, what_is_no_time_is_refused_with_examples) {
    for (const auto* text : {"", "9", "25:00", "9:60", "9:5", "soon", "yesterday 9:00", "+soon",
                             "tomorrow", "2026-13-01 09:00", "9:00:00:00", "-1:00"})
        EXPECT_NE(read(text).find("is no time; try 09:00"), std::string::npos) << text;
    EXPECT_EQ(read("today 9:00"), "\"today 9:00\" has passed");
}

TEST(PersonTime, a_time_that_the_clocks_skip_is_refused_and_the_first_of_two_is_meant) {
    EXPECT_EQ(read("2026-03-29 02:30"),
              "\"2026-03-29 02:30\" does not exist: the clocks are put forward then");
    EXPECT_EQ(read("2026-10-25 02:30"), "2026-10-25T00:30:00");
    EXPECT_EQ(read("2026-10-25 03:00"), "2026-10-25T02:00:00");
}

// Every quarter of an hour of a year: what is written is read back as the same moment, but for the
// hour that comes twice, and there it is written with another offset.
TEST(PersonTime, what_is_written_is_read_back) {
    for (auto when = at("2026-01-01T00:00:00Z"); when < at("2027-01-01T00:00:00Z");
         when = when + minutes(15)) {
        const auto text = local_text(when, berlin);
        ASSERT_EQ(read_person_time(text, when, berlin).value(), when) << text;
    }
    EXPECT_EQ(local_text(at("2026-11-15T12:00:00.25Z"), berlin), "2026-11-15T13:00:00.250+01:00");
    EXPECT_EQ(local_text(at("2026-11-15T12:00:00Z"), [](WallTime) { return Duration{}; }),
              "2026-11-15T12:00:00.000Z");
    EXPECT_EQ(
        local_text(at("2026-11-15T12:00:00Z"), [](WallTime) { return Duration{} - minutes(210); }),
        "2026-11-15T08:30:00.000-03:30");
}

}  // namespace
}  // namespace perdure::cli::person_time_test
