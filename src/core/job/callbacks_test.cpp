#include "core/job/callbacks.h"

#include <gtest/gtest.h>

#include <set>

namespace perdure::callbacks_test {
namespace {

constexpr Trigger ons[] = {Trigger::success, Trigger::failure, Trigger::end};

TEST(FiresOn, is_as_in_the_table) {
    struct Row {
        JobState state;
        std::set<Trigger> fires;
    };
    const Row table[] = {
        {JobState::scheduled, {}},
        {JobState::ready, {}},
        {JobState::blocked, {}},
        {JobState::starting, {}},
        {JobState::running, {}},
        {JobState::waiting, {}},
        {JobState::succeeded, {Trigger::success, Trigger::end}},
        {JobState::failed, {Trigger::failure, Trigger::end}},
        {JobState::cancelled, {Trigger::end}},
        {JobState::expired, {Trigger::failure, Trigger::end}},
        {JobState::quarantined, {Trigger::failure, Trigger::end}},
    };
    ASSERT_EQ(std::size(table), places.size());
    for (const auto& row : table)
        for (const auto on : ons)
            EXPECT_EQ(fires_on(on, row.state), row.fires.contains(on))
                << to_string(row.state) << " " << to_string(on);
}

std::vector<AwaitedFacts> every_other() {
    std::vector<AwaitedFacts> all;
    for (const auto on : ons) {
        all.push_back({on, std::nullopt});
        for (const auto& row : places)
            if (has_ended(row.state)) all.push_back({on, row.state});
    }
    return all;
}

// K2, over all pairs of others.
TEST(DecideAfter, goes_on_when_all_have_ended_and_fit_and_cancels_as_soon_as_one_does_not) {
    using Kind = AfterDecision::Kind;
    const auto misfits = [](const AwaitedFacts& o) {
        return o.ended_as && !fires_on(o.on, *o.ended_as);
    };
    for (const auto& a : every_other()) {
        for (const auto& b : every_other()) {
            auto expected = a.ended_as && b.ended_as ? Kind::go_on : Kind::wait;
            if (misfits(a) || misfits(b)) expected = Kind::cancel;
            EXPECT_EQ(decide_after({a, b}).kind, expected);
        }
    }
    EXPECT_EQ(decide_after({}).kind, Kind::go_on);
}

// K1.
TEST(CallbacksOwed, are_those_of_each_ended_generation) {
    const JobId job{7};
    const std::vector<CallbackRule> rules = {
        {0, Trigger::success}, {1, Trigger::failure}, {2, Trigger::end}, {3, Trigger::end, 2}};
    EXPECT_TRUE(callbacks_owed(job, 1, JobState::running, rules).empty());
    EXPECT_EQ(callbacks_owed(job, 1, JobState::cancelled, rules),
              (std::vector<CallbackOf>{{job, 1, 2}}));
    // Released: the first generation ended in quarantine.
    EXPECT_EQ(callbacks_owed(job, 2, JobState::ready, rules),
              (std::vector<CallbackOf>{{job, 1, 1}, {job, 1, 2}}));
    EXPECT_EQ(
        callbacks_owed(job, 2, JobState::succeeded, rules),
        (std::vector<CallbackOf>{{job, 1, 1}, {job, 1, 2}, {job, 2, 0}, {job, 2, 2}, {job, 2, 3}}));
}

TEST(InputOf, has_the_exit_code_of_a_process_that_exited_by_itself) {
    const CallbackOf ended{JobId{3}, 2, 0};
    const AttemptEnd exited{.cause = Cause::exit, .ran = Ran::yes, .exit_code = 4};
    EXPECT_EQ(input_of(ended, JobState::failed, Cause::exit, &exited, "1").exit_code, 4);
    const AttemptEnd killed{.cause = Cause::crash_signal, .ran = Ran::yes, .exit_code = 11};
    EXPECT_FALSE(input_of(ended, JobState::failed, Cause::crash_signal, &killed, "").exit_code);
    EXPECT_FALSE(input_of(ended, JobState::cancelled, Cause::cancelled, nullptr, "").exit_code);
}

TEST(InputOf, leaves_out_and_marks_a_result_that_is_too_large) {
    const std::string most(input_result_max, '1');
    const auto kept = input_of({}, JobState::succeeded, Cause::exit, nullptr, most);
    EXPECT_EQ(kept.result, most);
    EXPECT_FALSE(kept.result_left_out);
    const auto left_out = input_of({}, JobState::succeeded, Cause::exit, nullptr, most + "1");
    EXPECT_TRUE(left_out.result.empty());
    EXPECT_TRUE(left_out.result_left_out);
}

TEST(WithinLimit, leaves_out_what_is_too_much_together) {
    std::vector<Input> inputs(17);
    for (auto& input : inputs) input.result = std::string(input_result_max, '1');
    inputs.push_back({.result = ""});
    const auto fitting = within_limit(inputs);
    ASSERT_EQ(fitting.size(), inputs.size());
    for (std::size_t i = 0; i < 16; ++i) EXPECT_FALSE(fitting[i].result_left_out);
    EXPECT_TRUE(fitting[16].result_left_out);
    EXPECT_TRUE(fitting[16].result.empty());
    EXPECT_FALSE(fitting[17].result_left_out);
}

}  // namespace
}  // namespace perdure::callbacks_test
