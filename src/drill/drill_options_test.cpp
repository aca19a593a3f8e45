#include "drill/drill_options.h"

#include <gtest/gtest.h>

namespace perdure::drill {
namespace {

TEST(DrillOptions, plays_every_row_five_times_by_itself) {
    const auto options = read_options({});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->runs, 5U);
    EXPECT_EQ(options->chosen().size(), rows().size());
}

TEST(DrillOptions, plays_only_what_is_named) {
    const auto options = read_options({"--only", "shim", "--only", "worker", "--runs", "7"});
    ASSERT_TRUE(options);
    ASSERT_EQ(options->chosen().size(), 2U);
    EXPECT_EQ(options->chosen()[0]->name, "shim");
    EXPECT_EQ(options->runs, 7U);
}

TEST(DrillOptions, is_shorter_if_it_is_to_be_quick) {
    const auto options = read_options({"--quick"});
    ASSERT_TRUE(options);
    EXPECT_LT(options->chosen().size(), rows().size());
    EXPECT_GE(options->chosen().size(), 5U);
    EXPECT_EQ(options->runs, 2U);
    EXPECT_EQ(read_options({"--runs", "3", "--quick"})->runs, 3U);
}

TEST(DrillOptions, refuses_what_it_does_not_know) {
    EXPECT_FALSE(read_options({"--fast"}));
    EXPECT_FALSE(read_options({"--only"}));
    EXPECT_FALSE(read_options({"--only", "earthquake"}));
    EXPECT_FALSE(read_options({"--runs", "0"}));
    EXPECT_FALSE(read_options({"--runs", "many"}));
}

}  // namespace
}  // namespace perdure::drill
