// What is known about a process whose attempt has ended, over all facts.
#include "core/job/aftermath.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure::aftermath_test {
namespace {

std::vector<AftermathFacts> every_combination() {
    std::vector<AftermathFacts> all;
    for (unsigned bits = 0; bits < 64; ++bits)
        for (const auto ran : {Ran::no, Ran::maybe, Ran::yes}) {
            const auto bit = [&](unsigned n) { return (bits >> n & 1U) != 0; };
            AftermathFacts facts{.session_is_open = bit(0), .same_boot = bit(1), .suspect = bit(2)};
            if (bit(3)) facts.end = AttemptEnd{.ran = ran, .reported = bit(4)};
            if (bit(5)) facts.late_result = AttemptEnd{};
            all.push_back(facts);
        }
    return all;
}

TEST(DecideAftermath, calls_nothing_dead_without_proof) {
    for (const auto& f : every_combination()) {
        const bool said_so = f.late_result || (f.end && f.end->reported);
        const bool never_ran = f.end && f.end->ran == Ran::no;
        const bool proof = said_so || never_ran || !f.same_boot;
        EXPECT_EQ(decide_aftermath(f).aftermath == Aftermath::dead, proof);
    }
}

TEST(DecideAftermath, reaches_only_a_worker_that_speaks_to_us) {
    for (const auto& f : every_combination()) {
        if (decide_aftermath(f).aftermath != Aftermath::reachable) continue;
        EXPECT_TRUE(f.session_is_open && !f.suspect && f.same_boot);
    }
}

TEST(DecideRelease, runs_nothing_again_that_may_still_run_or_has_just_succeeded) {
    for (const auto aftermath : {Aftermath::dead, Aftermath::reachable, Aftermath::out_of_reach})
        for (const bool ended : {false, true})
            for (const bool succeeded : {false, true})
                for (const bool flag : {false, true}) {
                    ReleaseFacts f{.aftermath = aftermath, .end_since = {}, .may_still_run = flag};
                    if (ended) f.end_since = AttemptEnd{.succeeded = succeeded};
                    const bool dead = aftermath == Aftermath::dead;
                    const auto release = decide_release(f).release;
                    EXPECT_EQ(release == Release::result_came, !dead && ended && succeeded);
                    EXPECT_EQ(release == Release::may_still_run, !dead && !ended && !flag);
                }
}

TEST(DecideAftermath, goes_by_the_attempts_own_row_where_nothing_else_is_known) {
    EXPECT_TRUE(is_known_dead(AttemptEnd{.reported = true}, std::nullopt));
    EXPECT_TRUE(is_known_dead(AttemptEnd{.ran = Ran::no}, std::nullopt));
    EXPECT_TRUE(is_known_dead(AttemptEnd{.ran = Ran::yes}, AttemptEnd{}));
    EXPECT_FALSE(is_known_dead(AttemptEnd{.ran = Ran::maybe}, std::nullopt));
    EXPECT_FALSE(is_known_dead(std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace perdure::aftermath_test
