// [P10] For a job that has not ended, `why` names all blockers: over all combinations of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/explain/why.h"

namespace perdure {
namespace {

bool says(const std::vector<Blocker>& blockers, const std::string& words) {
    return std::any_of(blockers.begin(), blockers.end(), [&](const Blocker& blocker) {
        return blocker.what.find(words) != std::string::npos && !blocker.removed_by.empty();
    });
}

TEST(Why, names_every_blocker_of_a_ready_job_and_what_removes_it) {
    for (const bool paused : {false, true})
        for (const std::size_t connected : {0U, 2U})
            for (const bool matching : {false, true})
                for (const bool lost : {false, true}) {
                    WhyFacts facts{.state = JobState::ready, .queue = "slow"};
                    facts.queue_paused = paused;
                    facts.workers.assign(connected, {.name = "w", .takes_queue = matching});
                    facts.presumed_lost = lost;
                    const auto blockers = explain(facts, Timing{});
                    EXPECT_EQ(says(blockers, "is paused"), paused);
                    EXPECT_EQ(says(blockers, "no worker is connected"), connected == 0);
                    EXPECT_EQ(says(blockers, "takes queue `slow`"), connected > 0 && !matching);
                    EXPECT_EQ(says(blockers, "slots"), connected > 0 && matching);
                    EXPECT_EQ(says(blockers, "its last worker was lost"), lost);
                }
}

TEST(Why, names_every_blocker_of_whatever_waits_for_a_claim) {
    for (const auto state : {JobState::scheduled, JobState::ready, JobState::blocked})
        for (unsigned bits = 0; bits < 16; ++bits) {
            const auto bit = [&](unsigned n) { return (bits >> n & 1U) != 0; };
            WhyFacts facts{.state = state, .queue = "slow", .queue_paused = bit(0)};
            if (bit(1)) facts.taken.push_back({"key `k`", {"0000000000001"}});
            if (bit(2)) facts.taken.push_back({"limit `l`", {}});
            facts.held = state == JobState::blocked && bit(3);
            if (facts.held) facts.due_at = WallTime{1};
            const auto blockers = explain(facts, Timing{});
            EXPECT_EQ(says(blockers, "is paused"), bit(0));
            EXPECT_EQ(says(blockers, "key `k` is held by job"), bit(1));
            EXPECT_EQ(says(blockers, "limit `l` is taken"), bit(2));
            EXPECT_EQ(says(blockers, "a person holds it"), facts.held);
            EXPECT_EQ(says(blockers, "not due yet"), facts.held || state == JobState::scheduled);
            EXPECT_TRUE(says(blockers, "no worker is connected"));
        }
}

}  // namespace
}  // namespace perdure
