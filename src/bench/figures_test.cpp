#include "bench/figures.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace perdure::bench {
namespace {

Figures halfway() {
    Figures figures;
    figures.lives = middle_of({{.reached = 500, .ceiling = 1000, .other_ceiling = 2000}});
    figures.drain = middle_of({{.reached = 1199, .ceiling = 2000, .other_ceiling = 4796}});
    figures.idle = {.server = 24, .worker = 26};
    return figures;
}

std::string line_with(const std::string& table, const std::string& words) {
    const auto at = table.find(words);
    if (at == std::string::npos) return "";
    return table.substr(at, table.find('\n', at) - at);
}

TEST(Samples, spread_is_taken_over_all_of_them_in_any_order) {
    Samples samples;
    for (int i = 100; i >= 0; --i) samples.add(i);
    const auto spread = samples.spread();
    EXPECT_EQ(spread.p50, 50);
    EXPECT_EQ(spread.p99, 99);
    EXPECT_EQ(Samples().spread().p99, 0);
}

TEST(Rounds, the_middle_one_counts_as_it_was) {
    const auto rounds = middle_of({{.reached = 90, .ceiling = 100},
                                   {.reached = 100, .ceiling = 1000},
                                   {.reached = 300, .ceiling = 600, .other_ceiling = 1200}});
    EXPECT_EQ(rounds.middle.reached, 300);
    EXPECT_EQ(rounds.middle.ceiling, 600);
    EXPECT_EQ(rounds.middle.other_ratio(), 0.25);
    EXPECT_EQ(rounds.least, 0.1);
    EXPECT_EQ(rounds.most, 0.9);
    EXPECT_EQ(middle_of({}).middle.ratio(), 0);
}

TEST(Rounds, a_round_that_fails_fails_the_measure) {
    const auto rounds = compare(3, [](std::size_t round) -> Result<Compared> {
        if (round == 2) return error(Errc::unavailable, "the server has gone");
        return Compared{.reached = 1, .ceiling = 2};
    });
    ASSERT_FALSE(rounds);
    EXPECT_EQ(rounds.error().what, "the server has gone");
}

TEST(Rounds, end_early_but_not_before_the_first) {
    std::size_t taken = 0;
    const auto once = [&](std::size_t) -> Result<Compared> {
        ++taken;
        return Compared{.reached = 1, .ceiling = 2};
    };
    ASSERT_TRUE(compare(5, once, [] { return true; }));
    EXPECT_EQ(taken, 1U);
}

TEST(Figures, json_has_every_promised_name) {
    boost::system::error_code failed;
    const auto value = boost::json::parse(as_json(halfway()), failed);
    ASSERT_FALSE(failed);
    for (const auto* name :
         {"store", "ceiling_jobs_per_s", "jobs_per_s", "ratio", "drain_per_s",
          "submit_single_per_s", "submit_batch_per_s", "latency_ms", "fdatasync_ms",
          "command_ceiling_per_s", "command_jobs_per_s", "idle_rss_mib"})
        EXPECT_FALSE(member(value, name).is_null()) << name;
    EXPECT_EQ(member(value, "ratio").to_number<double>(), 0.5);
    EXPECT_EQ(member(value, "blind_ratio").to_number<double>(), 0.25);
    EXPECT_TRUE(member(value, "backlog").is_null());
}

TEST(Figures, verdict_compares_with_the_ceiling_of_the_same_run) {
    const auto table = as_table(halfway());
    EXPECT_TRUE(line_with(table, "whole lives").ends_with("met"));
    EXPECT_TRUE(line_with(table, "drain of").ends_with("missed"));
    EXPECT_TRUE(line_with(table, "idle server").ends_with("met"));
    EXPECT_TRUE(line_with(table, "idle worker").ends_with("missed"));
}

TEST(Figures, what_was_measured_is_told_although_something_failed) {
    auto figures = halfway();
    figures.drain = {};
    figures.waited = 10;
    figures.failures = {"draining a backlog: the server has gone"};
    EXPECT_TRUE(line_with(as_table(figures), "whole lives").ends_with("met"));
    const auto drain = line_with(as_table(figures), "drain of");
    EXPECT_NE(drain.find("not measured"), std::string::npos);
    EXPECT_TRUE(drain.ends_with("missed"));
    EXPECT_TRUE(line_with(as_table(figures), "claim, 10 waiting").ends_with("missed"));
    const auto value = boost::json::parse(as_json(figures));
    EXPECT_EQ(member(value, "failures").as_array().size(), 1U);
    EXPECT_EQ(member(value, "jobs_per_s").to_number<double>(), 500);
}

TEST(Figures, a_measure_without_its_ceiling_is_missed) {
    EXPECT_TRUE(line_with(as_table(Figures{}), "whole lives").ends_with("missed"));
    EXPECT_TRUE(line_with(as_table(Figures{}), "idle server").ends_with("missed"));
}

}  // namespace
}  // namespace perdure::bench
