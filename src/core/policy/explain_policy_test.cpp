#include "core/policy/explain_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/policy/custom_policy.h"

namespace perdure::explain_policy_test {
namespace {

const Outlook* line_about(const std::vector<Outlook>& lines, Cause cause, bool alone = false,
                          std::uint8_t rule = 0) {
    for (const auto& line : lines) {
        const Outlook::End wanted{cause, alone};
        const bool there = std::find(line.ends.begin(), line.ends.end(), wanted) != line.ends.end();
        if (there && line.rule_number == rule) return &line;
    }
    return nullptr;
}

TEST(ExplainPolicy, says_something_about_every_cause_exactly_once) {
    for (const auto name : {PolicyName::default_, PolicyName::never, PolicyName::forever}) {
        const auto lines = explain_policy({.policy = {.name = name}});
        std::map<std::pair<Cause, bool>, int> told;
        for (const auto& line : lines)
            for (const auto& end : line.ends) ++told[{end.cause, end.alone}];
        EXPECT_EQ(told.size(), cause_count + 2);
        for (const auto& [end, times] : told) EXPECT_EQ(times, 1) << to_string(end.first);
    }
}

TEST(ExplainPolicy, says_what_would_happen_now_not_what_happens_first) {
    OutlookFacts facts;
    EXPECT_EQ(line_about(explain_policy(facts), Cause::oom)->next.kind, Next::Kind::again_after);
    const AttemptEnd crash{.cause = Cause::crash_signal, .ran = Ran::yes};
    facts.counts = with(with({}, crash), crash);
    const auto outlooks = explain_policy(facts);
    const auto* line = line_about(outlooks, Cause::oom);
    EXPECT_EQ(line->used, 2U);
    EXPECT_EQ(line->line.times, 2U);
    EXPECT_EQ(line->next.kind, Next::Kind::ended);
    EXPECT_EQ(line->next.state, JobState::quarantined);
}

TEST(ExplainPolicy, tells_lost_alone_apart) {
    const auto lines = explain_policy({});
    EXPECT_EQ(line_about(lines, Cause::worker_lost)->line.rule, "default/owner_lost");
    EXPECT_EQ(line_about(lines, Cause::worker_lost, true)->line.rule, "default/crash");
}

TEST(ExplainPolicy, lists_conditions_of_rules_first_and_the_rest_of_their_causes_after) {
    OutlookFacts facts;
    facts.policy.rules = {
        {.causes = {Cause::exit}, .exit_codes = {75}, .times = 3, .wait = seconds(5)},
        {.causes = {Cause::oom}, .then = LastResort::quarantine}};
    facts.counts.of_rules = {2};
    const auto lines = explain_policy(facts);
    EXPECT_EQ(lines.front().rule_number, 1);
    EXPECT_EQ(lines.front().used, 2U);
    EXPECT_EQ(lines.front().next.wait, seconds(20));
    EXPECT_EQ(line_about(lines, Cause::exit)->line.rule, "default/own_failure");
    EXPECT_EQ(line_about(lines, Cause::oom)->line.rule, "custom/2");
    EXPECT_EQ(line_about(lines, Cause::oom)->next.state, JobState::quarantined);
}

TEST(ExplainPolicy, knows_the_guard_of_the_effects) {
    const auto lines = explain_policy({.effects = Effects::once});
    EXPECT_EQ(line_about(lines, Cause::worker_lost)->next.rule, "P4/may_have_run");
    EXPECT_EQ(line_about(lines, Cause::lock_busy)->next.kind, Next::Kind::again_now);
}

}  // namespace
}  // namespace perdure::explain_policy_test
