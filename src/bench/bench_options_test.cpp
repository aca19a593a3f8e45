#include "bench/bench_options.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

Result<Options> read(const std::vector<std::string>& words) {
    return read_options(words, {"queues", "idle"});
}

TEST(BenchOptions, are_all_off_on_a_real_disk_unless_asked_for) {
    const auto options = read({});
    ASSERT_TRUE(options);
    EXPECT_FALSE(options->json || options->quick || options->backlog || options->keep ||
                 options->scale);
    EXPECT_EQ(options->directory, "/var/tmp");
}

TEST(BenchOptions, take_every_flag_and_a_directory) {
    const auto options = read({"--json", "--quick", "--backlog", "--keep", "--dir", "/x"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->json && options->quick && options->backlog && options->keep);
    EXPECT_EQ(options->directory, "/x");
}

TEST(BenchOptions, refuse_what_they_do_not_know) {
    EXPECT_TRUE(read({"--fast"}).is(Errc::invalid));
    EXPECT_TRUE(read({"--fast", "idle"}).is(Errc::invalid));
    EXPECT_TRUE(read({"--dir"}).is(Errc::invalid));
    EXPECT_TRUE(read({"idle"}).is(Errc::invalid));
}

TEST(BenchOptions, scale_takes_names_of_measures_a_size_and_a_limit) {
    const auto options =
        read({"--scale", "idle", "--waiting", "10000000", "queues", "--time-limit", "9"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->scale);
    EXPECT_EQ(options->names, (std::vector<std::string>{"idle", "queues"}));
    EXPECT_EQ(options->waiting, 10'000'000U);
    EXPECT_EQ(options->time_limit_s, 9);
}

TEST(BenchOptions, scale_names_the_measures_that_there_are) {
    const auto refused = read({"--scale", "idel"});
    ASSERT_TRUE(refused.is(Errc::invalid));
    EXPECT_EQ(refused.error().what, "there is no measure `idel`; there are queues, idle");
}

TEST(BenchOptions, sizes_are_numbers_and_whole_batches) {
    EXPECT_EQ(read({"--scale", "--waiting", "1001"})->waiting, 2000U);
    for (const auto* wrong : {"0", "-1", "1e6", "many", "", "100000001"})
        EXPECT_TRUE(read({"--scale", "--waiting", wrong}).is(Errc::invalid)) << wrong;
    EXPECT_TRUE(read({"--scale", "--time-limit", "0"}).is(Errc::invalid));
}

TEST(BenchOptions, scale_is_a_mode_of_its_own) {
    EXPECT_TRUE(read({"--scale", "--quick"}).is(Errc::invalid));
    EXPECT_TRUE(read({"--scale", "--backlog"}).is(Errc::invalid));
    EXPECT_TRUE(read({"--waiting", "5000"}).is(Errc::invalid));
}

}  // namespace
}  // namespace perdure::bench
