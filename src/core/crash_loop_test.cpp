#include "core/crash_loop.h"

#include <gtest/gtest.h>

namespace perdure::crash_loop_test {
namespace {

// O9, [P6].
TEST(DecideCrashLoop, begins_at_the_third_crash_and_ends_an_attempt_at_each_further_one) {
    const CrashLoopDecision table[] = {
        {false, false, "O9/start_normally"}, {false, false, "O9/start_normally"},
        {false, false, "O9/start_normally"}, {true, false, "O9/start_nothing_new"},
        {true, true, "O9/end_the_youngest"}, {true, true, "O9/end_the_youngest"},
    };
    for (std::uint32_t crashes = 0; crashes < std::size(table); ++crashes) {
        const auto decision = decide_crash_loop({crashes});
        EXPECT_EQ(decision.start_nothing_new, table[crashes].start_nothing_new) << crashes;
        EXPECT_EQ(decision.end_youngest_adopted, table[crashes].end_youngest_adopted) << crashes;
        EXPECT_EQ(decision.rule, table[crashes].rule) << crashes;
    }
}

TEST(DecideCrashLoop, never_ends_an_attempt_while_new_ones_may_start) {
    for (std::uint32_t crashes = 0; crashes < 100; ++crashes) {
        const auto decision = decide_crash_loop({crashes});
        EXPECT_TRUE(!decision.end_youngest_adopted || decision.start_nothing_new) << crashes;
    }
}

}  // namespace
}  // namespace perdure::crash_loop_test
