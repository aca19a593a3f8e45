#include "core/job/resources.h"

#include <gtest/gtest.h>

namespace perdure::resources_test {
namespace {

// 64 combinations: what is asked for, times what there is.
TEST(DecideResources, runs_exactly_where_every_limit_that_was_asked_for_holds) {
    for (unsigned bits = 0; bits < 64; ++bits) {
        Resources asked;
        if (bits & 1) asked.memory = 1;
        if (bits & 2) asked.cpu_percent = 1;
        if (bits & 4) asked.processes = 1;
        const Enforceable here{
            .memory = (bits & 8) != 0, .cpu = (bits & 16) != 0, .processes = (bits & 32) != 0};
        const bool holds = ((bits & 7) & ~(bits >> 3)) == 0;
        const auto decision = decide_resources(asked, here);
        EXPECT_EQ(decision.run, holds) << bits;
        EXPECT_EQ(decision.missing.empty(), holds) << bits;
    }
}

}  // namespace
}  // namespace perdure::resources_test
