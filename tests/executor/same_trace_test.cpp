// Executor first: the production loop gives the same trace, bit for bit, on the executor that
// production uses and on the simulator's, for the same requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/executor/play.h"

namespace perdure::executor {
namespace {

using Lines = std::vector<std::string>;

Lines on_asio(Script script) {
    AsioStage stage;
    return Play(stage, std::move(script), whole_script_rounds).run();
}

Lines on_world(std::uint64_t seed, Script script) {
    SimStage stage(seed);
    return Play(stage, std::move(script), whole_script_rounds).run();
}

bool says(const Lines& lines, std::string_view part) {
    return std::any_of(lines.begin(), lines.end(), [part](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

TEST(SameTrace, production_and_simulation_give_the_same_trace) {
    const auto simulated = on_world(1, whole_script());
    EXPECT_EQ(difference(on_asio(whole_script()), simulated), "");
}

TEST(SameTrace, no_seed_changes_the_trace) {
    const auto first = on_world(1, whole_script());
    for (std::uint64_t seed = 2; seed <= 50; ++seed)
        ASSERT_EQ(difference(on_world(seed, whole_script()), first), "") << "seed " << seed;
}

TEST(SameTrace, no_repetition_changes_the_trace) {
    const auto first = on_asio(whole_script());
    for (int i = 0; i < 4; ++i) ASSERT_EQ(difference(on_asio(whole_script()), first), "");
}

// A trace that shows nothing would always be the same one.
TEST(SameTrace, the_trace_shows_every_kind_of_event) {
    const auto lines = on_world(1, whole_script());
    for (const auto* part : {"open server =", "tick 1 to 2",   "keeper epoch 1",
                             "created J1",    "found J",       "= conflict",
                             "= not_found",   "= fenced",      "= outcome_unknown",
                             "= unavailable", "= corrupt",     "settle unknown",
                             ": invalid",     ": unavailable", ": outcome_unknown",
                             "claimed J",     "answer 0",      "by E5/queue",
                             "swept J",       "work appeared", "busy"})
        EXPECT_TRUE(says(lines, part)) << part;
}

TEST(SameTrace, another_order_of_requests_gives_another_trace) {
    auto script = whole_script();
    auto& acts = script[3].acts;
    std::swap(acts[0], acts[1]);
    const auto changed = on_world(1, script);
    EXPECT_NE(changed, on_world(1, whole_script()));
    EXPECT_EQ(difference(on_asio(script), changed), "");
}

}  // namespace
}  // namespace perdure::executor
