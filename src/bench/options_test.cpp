#include "bench/options.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

TEST(BenchOptions, are_all_off_on_a_real_disk_unless_asked_for) {
    const auto options = read_options({});
    ASSERT_TRUE(options);
    EXPECT_FALSE(options->json || options->quick || options->backlog || options->keep);
    EXPECT_EQ(options->directory, "/var/tmp");
}

TEST(BenchOptions, take_every_flag_and_a_directory) {
    const auto options = read_options({"--json", "--quick", "--backlog", "--keep", "--dir", "/x"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->json && options->quick && options->backlog && options->keep);
    EXPECT_EQ(options->directory, "/x");
}

TEST(BenchOptions, refuse_what_they_do_not_know) {
    EXPECT_TRUE(read_options({"--fast"}).is(Errc::invalid));
    EXPECT_TRUE(read_options({"--dir"}).is(Errc::invalid));
}

}  // namespace
}  // namespace perdure::bench
