#include "bench/scale/scale_rows.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "bench/instance.h"

namespace perdure::bench {
namespace {

ScaleRow row_of(double small, double large, Wanted wanted) {
    return {.name = "queues",
            .measure = "drain",
            .by = "worker protocol",
            .small = Reading{"1 queue", small, "/s"},
            .large = Reading{"20000 queues", large, "/s"},
            .wanted = wanted,
            .note = ""};
}

std::string last_line(const ScaleRow& row) {
    const auto table = as_table(std::vector{row});
    const auto end = table.rfind('\n');
    const auto begin = table.rfind('\n', end - 1) + 1;
    return table.substr(begin, end - begin);
}

TEST(ScaleRow, ratio_is_the_large_case_divided_by_the_small_one) {
    EXPECT_EQ(ratio_of(row_of(1000, 250, {})), 0.25);
    EXPECT_EQ(ratio_of(row_of(2, 5, {})), 2.5);
}

TEST(ScaleRow, there_is_no_ratio_to_nothing) {
    EXPECT_FALSE(ratio_of(row_of(0, 250, {})));
    EXPECT_FALSE(ratio_of(row_of(1000, 0, {})));
    auto row = row_of(1000, 250, {});
    row.small.reset();
    EXPECT_FALSE(ratio_of(row));
}

TEST(ScaleVerdict, a_ratio_is_met_from_its_bound_on) {
    EXPECT_EQ(verdict_of(row_of(1000, 500, Wanted::ratio_at_least(0.5))), Verdict::met);
    EXPECT_EQ(verdict_of(row_of(1000, 499, Wanted::ratio_at_least(0.5))), Verdict::missed);
    EXPECT_EQ(verdict_of(row_of(1, 2, Wanted::ratio_at_most(2))), Verdict::met);
    EXPECT_EQ(verdict_of(row_of(1, 2.1, Wanted::ratio_at_most(2))), Verdict::missed);
}

TEST(ScaleVerdict, a_goal_is_told_but_not_needed) {
    const auto row = row_of(1000, 500, Wanted::ratio_at_least(0.5, 0.6));
    EXPECT_EQ(verdict_of(row), Verdict::met);
    EXPECT_NE(last_line(row).find("≥ ratio 0.5, goal 0.6"), std::string::npos);
}

TEST(ScaleVerdict, a_value_is_judged_without_a_small_case_and_may_be_zero) {
    auto row = row_of(0, 0, Wanted::at_most(1));
    row.small.reset();
    EXPECT_EQ(verdict_of(row), Verdict::met);
    row.large->value = 1.5;
    EXPECT_EQ(verdict_of(row), Verdict::missed);
}

TEST(ScaleVerdict, what_was_not_measured_is_neither_met_nor_missed) {
    EXPECT_EQ(verdict_of(row_of(0, 250, Wanted::ratio_at_least(0.5))), Verdict::not_measured);
    auto row = row_of(1000, 250, Wanted::at_most(1e6));
    row.large.reset();
    EXPECT_EQ(verdict_of(row), Verdict::not_measured);
}

TEST(ScaleVerdict, nothing_wanted_is_not_judged) {
    EXPECT_EQ(verdict_of(row_of(1000, 1, {})), Verdict::not_judged);
}

TEST(ScaleTable, a_row_has_both_cases_the_ratio_what_was_wanted_and_a_verdict) {
    const auto line = last_line(row_of(12'000, 360, Wanted::ratio_at_least(0.5)));
    EXPECT_EQ(line,
              "queues  drain    1 queue: 12000/s  20000 queues: 360/s  0.03   ≥ ratio 0.5  missed");
}

TEST(ScaleTable, a_case_that_was_not_finished_says_so) {
    auto row = row_of(12'000, 360, Wanted::ratio_at_least(0.5));
    row.gave_up = true;
    EXPECT_NE(last_line(row).find("20000 queues: 360/s, unfinished"), std::string::npos);
}

TEST(ScaleTable, notes_stand_below_with_the_name_of_their_row) {
    auto row = row_of(12'000, 360, {});
    row.note = "200 workers";
    EXPECT_EQ(last_line(row), "queues, drain: 200 workers");
}

TEST(ScaleJson, has_everything_that_the_table_has) {
    auto row = row_of(1000, 250, Wanted::ratio_at_least(0.5, 0.6));
    row.note = "noted";
    row.gave_up = true;
    const auto value = boost::json::parse(as_json(std::vector{row}));
    const auto& written = member(value, "rows").as_array().at(0);
    EXPECT_EQ(member(written, "name").as_string(), "queues");
    EXPECT_EQ(member(written, "by").as_string(), "worker protocol");
    EXPECT_EQ(member(member(written, "small"), "value").to_number<double>(), 1000);
    EXPECT_EQ(member(member(written, "large"), "case").as_string(), "20000 queues");
    EXPECT_EQ(member(written, "ratio").to_number<double>(), 0.25);
    EXPECT_EQ(member(member(written, "wanted"), "at_least").to_number<double>(), 0.5);
    EXPECT_EQ(member(member(written, "wanted"), "goal").to_number<double>(), 0.6);
    EXPECT_EQ(member(written, "verdict").as_string(), "missed");
    EXPECT_TRUE(member(written, "gave_up").as_bool());
    EXPECT_EQ(member(written, "note").as_string(), "noted");
}

TEST(ScaleJson, leaves_out_what_was_not_measured) {
    const ScaleRow row{.name = "idle",
                       .measure = "syncs",
                       .by = "",
                       .small = {},
                       .large = {},
                       .wanted = Wanted::at_most(0.5),
                       .note = "no library"};
    const auto value = boost::json::parse(as_json(std::vector{row}));
    const auto& written = member(value, "rows").as_array().at(0);
    EXPECT_TRUE(member(written, "large").is_null());
    EXPECT_TRUE(member(written, "ratio").is_null());
    EXPECT_EQ(member(written, "verdict").as_string(), "not_measured");
}

}  // namespace
}  // namespace perdure::bench
