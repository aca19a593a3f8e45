#include "bench/deadline.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

TEST(LookAgain, is_soon_when_nothing_is_known_and_near_the_end) {
    EXPECT_EQ(look_again_after_s(1, 0, 1000), look_again_min_s);
    EXPECT_EQ(look_again_after_s(1, 999, 1000), look_again_min_s);
    EXPECT_EQ(look_again_after_s(1, 1000, 1000), look_again_min_s);
}

TEST(LookAgain, waits_for_half_of_what_seems_to_be_left) {
    EXPECT_DOUBLE_EQ(look_again_after_s(0.9, 900, 1000), 0.05);
    EXPECT_EQ(look_again_after_s(10, 1, 1000), look_again_max_s);
}

}  // namespace
}  // namespace perdure::bench
