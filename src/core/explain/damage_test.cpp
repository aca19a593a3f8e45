#include "core/explain/damage.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure {
namespace {

using Kind = CopyDecision::Kind;

std::vector<CopyFacts> every_combination() {
    std::vector<CopyFacts> all;
    for (const bool row : {false, true})
        for (const bool copy : {false, true})
            for (const bool same : {false, true}) all.push_back({row, copy, same});
    return all;
}

TEST(DecideCopy, never_uses_what_is_damaged_and_refuses_only_if_both_are) {
    for (const auto& facts : every_combination()) {
        const auto kind = decide_copy(facts).kind;
        if (kind == Kind::use_row) {
            EXPECT_TRUE(facts.row_is_good);
        }
        if (kind == Kind::use_copy) {
            EXPECT_TRUE(facts.copy_is_good && !facts.row_is_good);
        }
        EXPECT_EQ(kind == Kind::refuse, !facts.row_is_good && !facts.copy_is_good);
    }
}

TEST(DecideCopy, leaves_both_alone_only_if_they_are_good_and_say_the_same) {
    for (const auto& facts : every_combination()) {
        const auto decision = decide_copy(facts);
        if (decision.kind == Kind::refuse) continue;
        const bool all_is_well = facts.row_is_good && facts.copy_is_good && facts.are_same;
        EXPECT_EQ(decision.write_both, !all_is_well);
    }
}

}  // namespace
}  // namespace perdure
