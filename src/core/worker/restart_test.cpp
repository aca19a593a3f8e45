#include "core/worker/restart.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace perdure::restart_test {
namespace {

using Kind = ChildEndDecision::Kind;

std::vector<ChildEndFacts> every_end() {
    std::vector<ChildEndFacts> all;
    for (const bool told : {false, true})
        for (const bool by_signal : {false, true})
            for (int code = 0; code < 256; ++code)
                for (const bool ever_ready : {false, true})
                    for (const auto ready_for : {seconds(0), seconds(1), seconds(10), hours(1)})
                        for (const std::uint32_t in_a_row : {0U, 1U, 2U, 7U, 4'000'000'000U})
                            all.push_back({told, by_signal, code, ever_ready, ready_for, in_a_row});
    return all;
}

TEST(DecideChildEnd, never_restarts_what_was_told_to_stop) {
    for (const auto& facts : every_end())
        EXPECT_EQ(decide_child_end(facts).kind == Kind::stopped, facts.told_to_stop);
}

TEST(DecideChildEnd, restarts_whatever_a_signal_has_ended) {
    for (const auto& facts : every_end())
        if (facts.by_signal && !facts.told_to_stop) {
            EXPECT_EQ(decide_child_end(facts).kind, Kind::again);
        }
}

TEST(DecideChildEnd, waits_at_most_three_seconds) {
    for (const auto& facts : every_end()) EXPECT_LE(decide_child_end(facts).wait, seconds(3));
}

TEST(DecideChildEnd, restarts_at_once_after_a_long_life_and_for_the_first_time) {
    for (const auto& facts : every_end())
        if (facts.ready_for >= seconds(10) || facts.in_a_row == 0) {
            EXPECT_EQ(decide_child_end(facts).wait, Duration{});
        }
}

TEST(DecideChildEnd, waits_longer_from_one_short_life_to_the_next) {
    Duration before;
    for (std::uint32_t n = 1; n <= 5; ++n) {
        const auto decision = decide_child_end({.by_signal = true, .in_a_row = n});
        EXPECT_GT(decision.wait, before);
        EXPECT_TRUE(decision.short_life);
        before = decision.wait;
    }
}

TEST(DecideChildEnd, gives_up_where_only_a_person_can_help) {
    EXPECT_EQ(decide_child_end({.exit_code = 2}).kind, Kind::give_up);
    EXPECT_EQ(decide_child_end({.exit_code = 8, .ever_ready = true}).kind, Kind::give_up);
    EXPECT_EQ(decide_child_end({.exit_code = 4}).kind, Kind::give_up);
    EXPECT_EQ(decide_child_end({.exit_code = 4, .ever_ready = true}).kind, Kind::again);
    EXPECT_EQ(decide_child_end({.exit_code = 1}).kind, Kind::again);
    EXPECT_EQ(decide_child_end({.exit_code = 75}).kind, Kind::give_up);
    EXPECT_EQ(decide_child_end({.exit_code = 75, .ever_ready = true}).kind, Kind::again);
}

TEST(DecideChildEnd, lets_go_what_leaves_by_itself) {
    EXPECT_EQ(decide_child_end({.exit_code = 0, .ever_ready = true}).kind, Kind::left);
}

}  // namespace

namespace {

ChildLoopFacts facts_of(unsigned bits) {
    return {.ready = (bits & 1) != 0, .stopping = (bits & 2) != 0, .alive = (bits & 4) != 0};
}

TEST(SignOfLife, is_withheld_exactly_while_a_loop_that_should_turn_is_silent) {
    for (unsigned one = 0; one < 8; ++one)
        for (unsigned other = 0; other < 8; ++other) {
            const std::array children = {facts_of(one), facts_of(other)};
            bool silent = false;
            for (const auto& child : children)
                if (child.ready && !child.stopping && !child.alive) silent = true;
            EXPECT_EQ(decide_sign_of_life(children), !silent) << one << " " << other;
        }
}

TEST(SignOfLife, is_given_while_nothing_has_a_loop_yet) { EXPECT_TRUE(decide_sign_of_life({})); }

}  // namespace

}  // namespace perdure::restart_test
