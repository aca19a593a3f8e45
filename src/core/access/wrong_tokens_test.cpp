#include "core/access/wrong_tokens.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

BootTime at(Duration since) { return BootTime{since.us}; }

TEST(WrongTokens, wait_longer_with_each_that_the_same_source_tries) {
    WrongTokens wrong;
    EXPECT_EQ(wrong.note("uid 1", at({})).wait, milliseconds(250));
    EXPECT_EQ(wrong.note("uid 1", at(seconds(10))).wait, milliseconds(500));
    EXPECT_EQ(wrong.note("uid 1", at(seconds(20))).wait, seconds(1));
    for (int i = 0; i < 100; ++i) wrong.note("uid 1", at(seconds(30)));
    const auto later = wrong.note("uid 1", at(seconds(90)));
    EXPECT_EQ(later.wait, WrongTokens::step_max);
    EXPECT_EQ(later.count, 104U);
    EXPECT_EQ(wrong.note("uid 2", at(seconds(90))).wait, milliseconds(250)) << "another source";
}

// So that more connections are not more tries.
TEST(WrongTokens, wait_behind_those_that_came_at_the_same_time) {
    WrongTokens wrong;
    auto before = Duration{};
    for (int i = 0; i < 1'000; ++i) {
        const auto wait = wrong.note("uid 1", at({})).wait;
        EXPECT_GE(wait, std::min(before + milliseconds(250), WrongTokens::wait_max));
        EXPECT_LE(wait, WrongTokens::wait_max);
        before = wait;
    }
}

TEST(WrongTokens, are_forgotten_when_their_source_has_been_quiet) {
    WrongTokens wrong;
    for (int i = 0; i < 50; ++i) wrong.note("uid 1", at({}));
    const auto after = wrong.note("uid 1", at(WrongTokens::forgotten_after));
    EXPECT_EQ(after.wait, WrongTokens::first_wait);
    EXPECT_EQ(after.count, 1U);
}

TEST(WrongTokens, are_told_rarely) {
    WrongTokens wrong;
    int told = 0;
    for (int i = 0; i < 10'000; ++i)
        if (wrong.note("uid 1", at({})).is_worth_a_line) ++told;
    EXPECT_EQ(told, 4);
}

TEST(WrongTokens, take_a_bounded_table_whatever_is_tried) {
    WrongTokens wrong;
    for (int i = 0; i < 5; ++i) wrong.note("busy", at({}));
    for (std::size_t i = 0; i < 3 * WrongTokens::sources_max; ++i) {
        wrong.note("address " + std::to_string(i), at(milliseconds(static_cast<std::int64_t>(i))));
        if (i % 100 == 0) wrong.note("busy", at(milliseconds(static_cast<std::int64_t>(i))));
        ASSERT_LE(wrong.sources(), WrongTokens::sources_max);
    }
    EXPECT_GT(wrong.note("busy", at(seconds(3))).count, 30U) << "who is quiet goes first";
}

}  // namespace
}  // namespace perdure
