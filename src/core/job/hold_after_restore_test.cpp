#include "core/job/hold_after_restore.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

// P4
TEST(DecideAfterRestore, nothing_that_must_not_run_twice_can_start_by_itself) {
    for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
        for (const auto& place : places) {
            const auto what = decide_after_restore({effects, place.state});
            const bool has_ended = place.place == Place::outcome;
            const bool may_start = !has_ended && effects != Effects::repeatable;
            EXPECT_EQ(what != AfterRestore::leave, may_start) << place.name;
            EXPECT_EQ(what == AfterRestore::hold, may_start && can_be_held(place.state))
                << place.name;
        }
}

}  // namespace
}  // namespace perdure
