#include "core/worker/sign_of_life.h"

#include <gtest/gtest.h>

#include <array>

namespace perdure {
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
}  // namespace perdure
