#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace perdure::result_test {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return error(Errc::invalid, "odd");
    return n / 2;
}

TEST(Result, is_either_a_value_or_an_error) {
    EXPECT_TRUE(half(4));
    EXPECT_EQ(*half(4), 2);
    EXPECT_FALSE(half(3));
    EXPECT_EQ(half(3).error().code, Errc::invalid);
    EXPECT_EQ(half(3).error().what, "odd");
}

TEST(Result, is_tells_one_code_from_the_others) {
    EXPECT_TRUE(half(3).is(Errc::invalid));
    EXPECT_FALSE(half(3).is(Errc::fenced));
    EXPECT_FALSE(half(4).is(Errc::invalid));
    EXPECT_FALSE(Result<void>{}.is(Errc::invalid));
    EXPECT_TRUE(Result<void>(error(Errc::fenced, "")).is(Errc::fenced));
    EXPECT_FALSE(Result<void>(error(Errc::fenced, "")).is(Errc::corrupt));
}

TEST(Result, carries_what_can_only_be_moved) {
    Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
    const auto taken = std::move(*result);
    EXPECT_EQ(*taken, 7);
}

// An Error is not a string by accident: the types must not be confused.
TEST(Result, of_a_string_keeps_value_and_error_apart) {
    const Result<std::string> value(std::string("fine"));
    EXPECT_EQ(value->size(), 4U);
    const Result<std::string> bad(error(Errc::corrupt, "fine"));
    EXPECT_FALSE(bad.has_value());
}

TEST(Result, of_nothing_is_good_unless_it_is_an_error) {
    EXPECT_TRUE(Result<void>{}.has_value());
    const Result<void> bad(error(Errc::unavailable, "gone"));
    EXPECT_FALSE(bad);
    EXPECT_EQ(bad.error().what, "gone");
}

TEST(ResultDeathTest, aborts_rather_than_hand_out_what_is_not_there) {
    EXPECT_DEATH((void)half(3).value(), "broken invariant");
    EXPECT_DEATH((void)half(4).error(), "broken invariant");
    EXPECT_DEATH((void)Result<void>{}.error(), "broken invariant");
}

TEST(Errc, every_code_has_a_spelling_of_its_own) {
    std::string all;
    for (int i = 0; i <= static_cast<int>(Errc::corrupt); ++i)
        all += std::string(to_string(static_cast<Errc>(i))) + " ";
    EXPECT_EQ(
        all,
        "invalid not_found gone conflict unauthenticated forbidden fenced overloaded unavailable "
        "outcome_unknown corrupt ");
}

}  // namespace
}  // namespace perdure::result_test
