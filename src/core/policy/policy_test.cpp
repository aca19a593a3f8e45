#include "core/policy/policy.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/policy/custom_policy.h"

namespace perdure::policy_test {
namespace {

using Class = CauseClass;

std::vector<Cause> every_cause() {
    std::vector<Cause> all;
    for (std::size_t i = 0; i < cause_count; ++i) all.push_back(static_cast<Cause>(i));
    return all;
}

std::vector<AttemptEnd> every_end() {
    std::vector<AttemptEnd> all;
    for (const auto cause : every_cause())
        for (const auto ran : {Ran::no, Ran::maybe, Ran::yes})
            for (const bool alone : {false, true})
                for (const bool counted : {false, true})
                    for (const auto at : {std::optional<WallTime>{}, std::optional{WallTime{9}}})
                        all.push_back({.cause = cause,
                                       .ran = ran,
                                       .alone = alone,
                                       .counted = counted,
                                       .at = at});
    return all;
}

std::vector<PolicyChoice> every_policy() {
    std::vector<PolicyChoice> all;
    for (const auto name : {PolicyName::default_, PolicyName::never, PolicyName::forever})
        for (const std::uint32_t retries : {0, 1, 7})
            for (const auto wait : {Duration{}, seconds(1), hours(2)})
                all.push_back({name, retries, wait});
    return all;
}

std::vector<Class> every_class() {
    std::vector<Class> all;
    for (std::size_t i = 0; i < cause_class_count; ++i) all.push_back(static_cast<Class>(i));
    return all;
}

TEST(ClassOf, is_as_in_the_table_for_what_ran) {
    const std::pair<Cause, Class> table[] = {
        {Cause::exit, Class::own_failure},
        {Cause::verdict_retry, Class::conflict},
        {Cause::verdict_permanent, Class::own_failure},
        {Cause::verdict_at, Class::asked_later},
        {Cause::conflict, Class::conflict},
        {Cause::disconnected, Class::disconnected},
        {Cause::crash_signal, Class::crash},
        {Cause::crash_worker, Class::crash},
        {Cause::oom, Class::crash},
        {Cause::timeout_queue, Class::queue_timeout},
        {Cause::timeout_run, Class::timed_out},
        {Cause::timeout_idle, Class::timed_out},
        {Cause::timeout_total, Class::timed_out},
        {Cause::command_unusable, Class::unusable},
        {Cause::no_resources, Class::crash},
        {Cause::shim_failed, Class::crash},
        {Cause::shim_lost, Class::crash},
        {Cause::lock_busy, Class::crash},
        {Cause::worker_lost, Class::owner_lost},
        {Cause::host_lost, Class::owner_lost},
        {Cause::cut_off, Class::moved},
        {Cause::evicted, Class::moved},
        {Cause::cancelled, Class::cancelled},
        {Cause::corrupt, Class::crash},
        {Cause::suspect, Class::moved},
    };
    ASSERT_EQ(std::size(table), cause_count);
    for (const auto& [cause, expected] : table)
        for (const auto ran : {Ran::maybe, Ran::yes})
            EXPECT_EQ(class_of({.cause = cause, .ran = ran, .at = WallTime{9}}), expected)
                << to_string(cause);
}

TEST(ClassOf, what_did_not_run_says_nothing_about_the_job) {
    const std::set<Cause> still_final = {Cause::cancelled, Cause::timeout_queue,
                                         Cause::timeout_total, Cause::command_unusable};
    for (const auto& end : every_end()) {
        if (end.ran != Ran::no) {
            EXPECT_NE(class_of(end), Class::did_not_run);
        }
        if (end.ran == Ran::no) {
            EXPECT_EQ(class_of(end) == Class::did_not_run, !still_final.count(end.cause));
        }
    }
}

// E4, [P6]: a job that takes its host along must not live on the budget of the lost.
TEST(ClassOf, lost_while_it_ran_alone_counts_as_a_crash) {
    for (const auto& end : every_end()) {
        const bool lost = end.cause == Cause::worker_lost || end.cause == Cause::host_lost;
        if (!lost || end.ran == Ran::no) continue;
        EXPECT_EQ(class_of(end), end.alone ? Class::crash : Class::owner_lost);
    }
}

// Else a verdict without a time would be repeated at once, for ever.
TEST(ClassOf, a_wish_for_later_without_a_time_is_a_wish_to_retry) {
    EXPECT_EQ(class_of({.cause = Cause::verdict_at, .ran = Ran::yes}), Class::conflict);
}

TEST(RuleFor, every_class_of_every_policy_has_a_rule_with_a_name) {
    for (const auto& policy : every_policy())
        for (const auto c : every_class()) EXPECT_FALSE(rule_for(policy, c).rule.empty());
}

TEST(RuleFor, whatever_waits_grows_to_a_cap) {
    for (const auto& policy : every_policy()) {
        for (const auto c : every_class()) {
            const auto rule = rule_for(policy, c);
            EXPECT_GE(rule.first_wait, Duration{});
            EXPECT_GE(rule.wait_max, rule.first_wait);
        }
    }
}

// [P6].
TEST(RuleFor, a_crash_ends_in_quarantine_unless_the_policy_is_forever_which_says_so) {
    for (const auto& policy : every_policy()) {
        const auto rule = rule_for(policy, Class::crash);
        const bool forever = policy.name == PolicyName::forever;
        EXPECT_EQ(rule.times == PolicyRule::always, forever);
        EXPECT_EQ(rule.alarming, forever);
        if (!forever) {
            EXPECT_LE(rule.times, 2U);
        }
        if (!forever) {
            EXPECT_EQ(rule.then, LastResort::quarantine);
        }
    }
}

TEST(RuleFor, never_repeats_nothing_but_what_did_not_run) {
    for (const auto& policy : every_policy()) {
        if (policy.name != PolicyName::never) continue;
        for (const auto c : every_class())
            EXPECT_EQ(rule_for(policy, c).times > 0, c == Class::did_not_run);
    }
}

TEST(RuleFor, retries_are_for_failures_of_the_jobs_own_and_for_nothing_else) {
    for (const auto& policy : every_policy()) {
        auto plain = policy;
        plain.retries = 0;
        for (const auto c : every_class()) {
            const auto rule = rule_for(policy, c);
            const bool more = c == Class::own_failure && policy.name != PolicyName::never;
            if (more) {
                EXPECT_EQ(rule.times, policy.retries);
            }
            if (!more) {
                EXPECT_EQ(rule.times, rule_for(plain, c).times);
            }
        }
    }
}

TEST(RuleFor, what_is_not_the_authors_to_choose_is_the_same_in_all_policies) {
    for (const auto c :
         {Class::cancelled, Class::queue_timeout, Class::unusable, Class::did_not_run}) {
        std::set<std::string_view> rules;
        for (const auto& policy : every_policy()) rules.insert(rule_for(policy, c).rule);
        EXPECT_EQ(rules.size(), 1U);
    }
}

TEST(RuleFor, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& policy : every_policy())
        for (const auto c : every_class()) rules.insert(rule_for(policy, c).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"any/cancelled",       "any/command_unusable",
                                                 "any/did_not_run",     "any/moved",
                                                 "any/queue_timeout",   "any/retries",
                                                 "any/verdict_at",      "default/conflict",
                                                 "default/crash",       "default/disconnected",
                                                 "default/own_failure", "default/owner_lost",
                                                 "default/timed_out",   "forever/again",
                                                 "forever/crash",       "forever/disconnected",
                                                 "forever/own_failure", "forever/owner_lost",
                                                 "never/fail",          "never/interrupted"}));
}

// E4.
TEST(CountCauses, an_attempt_without_an_end_counts_as_a_crash) {
    const auto counts = count_causes({nullptr, nullptr}, {});
    EXPECT_EQ(counts[Class::crash], 2U);
}

TEST(CountCauses, counts_every_end_in_its_class_and_no_other) {
    for (const auto& end : every_end()) {
        const auto counts = count_causes({&end}, {});
        for (const auto c : every_class())
            EXPECT_EQ(counts[c], c == class_of(end) && end.counted ? 1U : 0U);
    }
}

TEST(CountCauses, a_row_of_unrun_attempts_is_broken_by_one_that_ran) {
    const AttemptEnd unrun{.cause = Cause::lock_busy, .ran = Ran::no};
    const AttemptEnd uncounted{.cause = Cause::worker_lost, .ran = Ran::no, .counted = false};
    const AttemptEnd ran{.cause = Cause::exit, .ran = Ran::yes};
    EXPECT_EQ(count_causes({&unrun, &uncounted, &unrun}, {}).did_not_run_in_a_row, 3U);
    EXPECT_EQ(count_causes({&unrun, &ran, &unrun}, {}).did_not_run_in_a_row, 1U);
    EXPECT_EQ(count_causes({&unrun, &ran}, {}).did_not_run_in_a_row, 0U);
    EXPECT_EQ(count_causes({&unrun, nullptr}, {}).did_not_run_in_a_row, 0U);
}

// Counts are derived: no order of claims and restarts loses any.
TEST(CountCauses, one_more_end_is_the_same_as_counting_all_anew) {
    const auto ends = every_end();
    std::vector<const AttemptEnd*> so_far;
    CauseCounts counts;
    for (const auto& end : ends) {
        so_far.push_back(&end);
        counts = with(counts, end);
        if (so_far.size() % 50 == 0) {
            EXPECT_EQ(count_causes(so_far, {}), counts);
        }
    }
    EXPECT_EQ(count_causes(so_far, {}), counts);
}

TEST(PolicyName, is_spelt_as_in_the_table) {
    EXPECT_EQ(to_string(PolicyName::default_), "default");
    EXPECT_EQ(to_string(PolicyName::never), "never");
    EXPECT_EQ(to_string(PolicyName::forever), "forever");
}

}  // namespace
}  // namespace perdure::policy_test
