#include "store/engine/apply/claim_size.h"

#include <gtest/gtest.h>

namespace perdure::store {
namespace {

// By turns, until it is reached: how many.
std::size_t taken_from(ShapeId lines) {
    ClaimSize size;
    std::size_t taken = 0;
    for (; !size.is_reached() && taken < 100'000; ++taken)
        size.note_taken(1 + static_cast<ShapeId>(taken) % lines);
    return taken;
}

TEST(ClaimSize, from_few_lines_it_takes_a_thousand) {
    EXPECT_EQ(taken_from(1), 1'000U);
    EXPECT_EQ(taken_from(2), 1'000U);
    EXPECT_EQ(taken_from(250), 1'000U);
}

TEST(ClaimSize, from_many_lines_it_takes_four_of_each) {
    EXPECT_EQ(taken_from(251), 1'004U);
    EXPECT_EQ(taken_from(1'000), 4'000U);
}

TEST(ClaimSize, a_line_that_comes_again_counts_once) {
    ClaimSize size;
    for (int i = 0; i < 500; ++i)
        for (const ShapeId line : {1, 2}) size.note_taken(line);
    EXPECT_TRUE(size.is_reached());
}

}  // namespace
}  // namespace perdure::store
