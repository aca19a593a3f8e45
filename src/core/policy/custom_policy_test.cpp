#include "core/policy/custom_policy.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/policy/recovery.h"

namespace perdure::custom_policy_test {
namespace {

constexpr auto always = CustomRule::always;

std::vector<Cause> every_cause() {
    std::vector<Cause> all;
    for (std::size_t i = 0; i < cause_count; ++i) all.push_back(static_cast<Cause>(i));
    return all;
}

std::vector<AttemptEnd> every_end() {
    std::vector<AttemptEnd> all;
    for (const auto cause : every_cause())
        for (const auto ran : {Ran::no, Ran::maybe, Ran::yes})
            for (const bool succeeded : {false, true})
                for (const bool alone : {false, true})
                    for (const bool counted : {false, true})
                        for (const std::int32_t code : {0, 1, 75})
                            for (const auto stale : {std::uint8_t{0}, std::uint8_t{2}})
                                all.push_back({.cause = cause,
                                               .ran = ran,
                                               .succeeded = succeeded,
                                               .alone = alone,
                                               .counted = counted,
                                               .exit_code = code,
                                               .matched = stale});
    return all;
}

const std::vector<Evidence>& every_evidence() {
    static const std::vector<Evidence> all = {
        {}, {.detail = "over quota today"}, {.last_lines = "a\nover quota\n"}, {.detail = "Quota"}};
    return all;
}

std::vector<CustomRule> every_rule() {
    std::vector<CustomRule> all;
    const std::vector<std::vector<Cause>> causes = {
        {}, {Cause::exit}, {Cause::crash_signal}, {Cause::exit, Cause::worker_lost}, {Cause::oom}};
    const std::vector<std::vector<std::int32_t>> codes = {{}, {75}, {1, 75}};
    for (const auto& some : causes)
        for (const auto& code : codes)
            for (const auto* text : {"", "quota", "over quota"})
                all.push_back({.causes = some, .exit_codes = code, .text = text});
    return all;
}

bool is_nobodys(const AttemptEnd& end) {
    const std::set<Cause> fixed = {Cause::cancelled, Cause::timeout_queue, Cause::command_unusable};
    return fixed.contains(end.cause) || (end.ran == Ran::no && end.cause != Cause::timeout_total);
}

// The definition once more, as slowly and plainly as it can be said.
bool should_fit(const CustomRule& rule, const AttemptEnd& end, const Evidence* evidence) {
    const auto has = [](const auto& list, const auto& one) {
        for (const auto& each : list)
            if (each == one) return true;
        return false;
    };
    const bool is_asked = !rule.causes.empty()      ? has(rule.causes, end.cause)
                          : rule.exit_codes.empty() ? is_for_rules(end.cause)
                                                    : is_own_exit(end.cause);
    const bool code = rule.exit_codes.empty() || has(rule.exit_codes, end.exit_code);
    const bool text = rule.text.empty() ||
                      (evidence && (evidence->detail.find(rule.text) != std::string::npos ||
                                    evidence->last_lines.find(rule.text) != std::string::npos));
    return is_asked && code && text;
}

TEST(Judged, is_by_the_first_rule_that_fits_and_by_no_other) {
    const auto rules = every_rule();
    const auto ends = every_end();
    for (const auto& first : rules)
        for (const auto& second : rules) {
            const PolicyChoice policy{.rules = {first, second}};
            for (std::size_t i = 0; i < ends.size();
                 i += 7) {  // 7: every field varies all the same
                const auto& end = ends[i];
                const Evidence* evidence = i % 5 == 0 ? nullptr : &every_evidence()[i % 4];
                unsigned expected = 0;
                if (should_fit(second, end, evidence)) expected = 2;
                if (should_fit(first, end, evidence)) expected = 1;
                if (end.succeeded || is_nobodys(end)) expected = 0;
                ASSERT_EQ(unsigned{judged(end, policy, evidence).matched}, expected)
                    << to_string(end.cause);
            }
        }
}

TEST(Judged, changes_nothing_but_the_rules_number) {
    const PolicyChoice policy{.rules = {CustomRule{}}};
    for (const auto& end : every_end()) {
        auto after = judged(end, policy, nullptr);
        after.matched = end.matched;
        EXPECT_EQ(after, end);
    }
}

// A server that settles for a dead worker has no text: it must not guess that it would have fitted.
TEST(Judged, a_rule_with_a_text_never_fits_without_evidence) {
    for (const auto& rule : every_rule()) {
        if (rule.text.empty()) continue;
        for (const auto& end : every_end())
            EXPECT_EQ(judged(end, {.rules = {rule}}, nullptr).matched, 0);
    }
}

TEST(Judged, text_is_compared_letter_by_letter) {
    const AttemptEnd end{.cause = Cause::exit, .ran = Ran::yes};
    const Evidence evidence{.last_lines = "Quota"};
    EXPECT_EQ(judged(end, {.rules = {{.text = "quota"}}}, &evidence).matched, 0);
    EXPECT_EQ(judged(end, {.rules = {{.text = "uot"}}}, &evidence).matched, 1);
}

std::vector<PolicyChoice> every_policy() {
    std::vector<PolicyChoice> all;
    for (const auto name : {PolicyName::default_, PolicyName::never, PolicyName::forever})
        for (const std::uint32_t times : {0U, 1U, 3U, always})
            for (const auto then : {LastResort::fail, LastResort::quarantine})
                for (const auto wait : {Duration{}, seconds(5)})
                    for (const bool another : {false, true})
                        for (const auto& causes :
                             {std::vector<Cause>{}, {Cause::exit}, {Cause::crash_signal}})
                            all.push_back({.name = name,
                                           .rules = {{.causes = causes,
                                                      .times = times,
                                                      .wait = wait,
                                                      .wait_max = seconds(12),
                                                      .growth = Growth::linear,
                                                      .another_worker = another,
                                                      .then = then}}});
    return all;
}

bool repeats(const Next& next) { return next.kind != Next::Kind::ended; }

// Q1, E3: over all policies, ends, effects and uses.
TEST(DecideNext, does_what_the_rule_says_as_often_as_it_says) {
    for (const auto& policy : every_policy())
        for (const auto& raw : every_end())
            for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
                for (const std::uint32_t before : {0U, 1U, 2U, 3U, 7U}) {
                    const auto end = judged(raw, policy, nullptr);
                    if (end.matched == 0) continue;
                    CauseCounts counts;
                    counts.of_rules = {before};
                    counts = with(counts, end);
                    const auto& rule = policy.rules.front();
                    const auto next = decide_next(
                        {.end = end, .policy = policy, .effects = effects, .counts = counts});
                    const auto uses = before + (end.counted ? 1 : 0);
                    const bool left = rule.times > 0 &&
                                      (rule.times == always || !end.counted || uses <= rule.times);
                    const bool guarded = effects != Effects::repeatable && end.ran != Ran::no;
                    ASSERT_EQ(repeats(next), left && !guarded);
                    if (!left) {
                        EXPECT_EQ(next.rule, "custom/1");
                        EXPECT_EQ(next.state, rule.then == LastResort::fail
                                                  ? JobState::failed
                                                  : JobState::quarantined);
                    }
                    if (left && guarded) {
                        EXPECT_EQ(next.state, is_own_exit(end.cause) ? JobState::failed
                                                                     : JobState::quarantined);
                    }
                    if (!repeats(next)) continue;
                    EXPECT_EQ(next.rule, "custom/1");
                    // What is not counted is its worker's doing.
                    EXPECT_EQ(next.another_worker, rule.another_worker || !end.counted);
                    const auto waits = std::max(uses, 1U);
                    const auto wait = std::min(seconds(5) * waits, seconds(12));
                    const bool at_once = rule.wait == Duration{};
                    EXPECT_EQ(next.kind, at_once ? Next::Kind::again_now : Next::Kind::again_after);
                    if (!at_once) {
                        EXPECT_EQ(next.wait, wait);
                    }
                }
}

// What no rule judges is decided as if there were none.
TEST(DecideNext, what_no_rule_judges_is_left_to_the_built_in_policy) {
    for (const auto& policy : every_policy())
        for (const auto& raw : every_end())
            for (const auto effects : {Effects::repeatable, Effects::once}) {
                const auto end = judged(raw, policy, nullptr);
                if (end.matched != 0) continue;
                const PolicyChoice plain{.name = policy.name};
                CauseCounts used;
                used.of_rules = {9};
                EXPECT_EQ(decide_next({end, policy, effects, with(used, end)}),
                          decide_next({end, plain, effects, with({}, end)}));
            }
}

// [P6] says who may crash for ever: only somebody whose author said so, and then loudly.
TEST(LineOf, crashes_that_are_always_repeated_are_alarming) {
    for (const auto& policy : every_policy()) {
        const auto line = line_of(policy, 1);
        const auto& causes = policy.rules.front().causes;
        const bool crashes = causes != std::vector<Cause>{Cause::exit};
        EXPECT_EQ(line.alarming, crashes && policy.rules.front().times == always);
        EXPECT_GE(line.wait_max, line.first_wait);
    }
}

TEST(CountCauses, an_end_that_a_rule_judged_counts_for_that_rule_alone) {
    for (auto end : every_end()) {
        end.matched = 3;
        const auto counts = with({}, end);
        EXPECT_EQ(counts.of, CauseCounts{}.of);
        EXPECT_EQ(counts.of_rule(3), end.counted ? 1U : 0U);
        EXPECT_EQ(counts.of_rule(2), 0U);
        EXPECT_EQ(counts.of_rule(4), 0U);
    }
}

PolicyChoice of_worker(std::vector<CustomRule> rules) {
    return {.rules = std::move(rules), .level = PolicyLevel::worker};
}

TEST(MarkOf, tells_the_policies_of_workers_apart_by_what_they_say) {
    std::set<std::uint64_t> marks = {0};
    for (const auto& rule : every_rule())
        for (const auto name : {PolicyName::default_, PolicyName::never, PolicyName::forever}) {
            auto policy = of_worker({rule});
            policy.name = name;
            EXPECT_TRUE(marks.insert(fingerprint_of(policy)).second);
            auto renamed = policy;
            renamed.custom = "another-name";
            renamed.retries = 5;
            EXPECT_EQ(fingerprint_of(renamed), fingerprint_of(policy))
                << "name and retries judge nothing";
            policy.level = PolicyLevel::server;
            EXPECT_EQ(fingerprint_of(policy), 0U) << "a job has only one that is not a worker's";
        }
}

// Q4: a job that goes from worker to worker does not get the budgets of all of them.
TEST(CountCauses, what_another_policy_judged_is_judged_anew) {
    const CustomRule crashes{.causes = {Cause::crash_signal}, .times = 5};
    const CustomRule oom{.causes = {Cause::oom}, .times = 5};
    const PolicyChoice plain;
    const std::vector<PolicyChoice> policies = {
        plain, {.rules = {oom, crashes}}, of_worker({crashes}), of_worker({oom, crashes})};
    for (const auto& first : policies)
        for (const auto& then : policies)
            for (const auto& end : every_end()) {
                const bool both_jobs = fingerprint_of(first) == 0 && fingerprint_of(then) == 0;
                if (both_jobs && first != then) continue;  // a job has one of them
                const auto before = judged(end, first, nullptr);
                EXPECT_EQ(count_causes({&before}, then),
                          with(CauseCounts{}, judged(end, then, nullptr)));
            }
}

// It cannot be found anew: the policy that saw the text remembers, others never know.
TEST(CountCauses, a_text_counts_only_for_the_policy_that_has_seen_it) {
    const CustomRule quota{.text = "quota", .times = 5};
    const auto one = of_worker({quota});
    const auto other = of_worker({quota, {.causes = {Cause::exit}, .times = 1}});
    const Evidence evidence{.detail = "over quota"};
    const AttemptEnd exit{.cause = Cause::exit, .ran = Ran::yes, .exit_code = 1};
    const auto end = judged(exit, one, &evidence);
    EXPECT_EQ(count_causes({&end}, one).of_rule(1), 1U);
    EXPECT_EQ(count_causes({&end}, other).of_rule(1), 0U);
    EXPECT_EQ(count_causes({&end}, other).of_rule(2), 1U);
    EXPECT_EQ(count_causes({&end}, {})[CauseClass::own_failure], 1U);
}

TEST(CausesNamed, are_each_cause_by_its_own_name) {
    for (const auto cause : every_cause())
        EXPECT_EQ(causes_named(to_string(cause)), std::vector<Cause>{cause});
}

TEST(CausesNamed, of_a_class_are_all_that_a_rule_may_judge) {
    EXPECT_EQ(causes_named("crash"),
              (std::vector<Cause>{Cause::crash_signal, Cause::crash_worker}));
    EXPECT_EQ(causes_named("timeout"),
              (std::vector<Cause>{Cause::timeout_run, Cause::timeout_idle, Cause::timeout_total}));
    EXPECT_EQ(
        causes_named("verdict"),
        (std::vector<Cause>{Cause::verdict_retry, Cause::verdict_permanent, Cause::verdict_at}));
    for (const auto* word : {"", "crash(", "cras", "exi", "worker", "did_not_run"})
        EXPECT_TRUE(causes_named(word).empty()) << word;
}

std::string fault_of(const std::vector<CustomRule>& rules) {
    const auto fault = find_rule_fault(rules);
    return fault ? fault->place : "";
}

CustomRule on(std::vector<Cause> causes, std::vector<std::int32_t> codes = {},
              std::string text = "") {
    return {.causes = std::move(causes),
            .exit_codes = std::move(codes),
            .text = std::move(text),
            .times = 1,
            .wait = seconds(1)};
}

TEST(FindRuleFault, refuses_every_cause_that_is_nobodys_to_choose) {
    for (const auto cause : every_cause()) {
        const auto fault = fault_of({on({Cause::oom}), on({Cause::exit, cause})});
        EXPECT_EQ(fault, is_for_rules(cause) ? "" : "rules[1].causes[1]") << to_string(cause);
    }
}

TEST(FindRuleFault, refuses_exit_codes_of_causes_that_have_none) {
    for (const auto cause : every_cause()) {
        if (!is_for_rules(cause)) continue;
        const bool has = is_own_exit(cause) || cause == Cause::crash_signal;
        EXPECT_EQ(fault_of({on({cause}, {75})}), has ? "" : "rules[0].exit_codes");
    }
    EXPECT_EQ(fault_of({on({}, {75, 0})}), "rules[0].exit_codes[1]");
    EXPECT_EQ(fault_of({on({}, {256})}), "rules[0].exit_codes[0]");
}

// The promise itself, over all pairs: what is refused never judges anything, and what never judges
// anything is refused.
TEST(FindRuleFault, refuses_exactly_the_rules_that_can_never_apply) {
    std::vector<CustomRule> sound;
    for (const auto& rule : every_rule())
        if (!find_rule_fault({rule})) sound.push_back(rule);
    for (const auto& first : sound)
        for (const auto& second : sound) {
            bool applies = false;
            for (const auto& end : every_end())
                for (const auto* text : {"", "quota", "over quota"}) {
                    const Evidence evidence{.detail = text};
                    if (judged(end, {.rules = {first, second}}, &evidence).matched == 2)
                        applies = true;
                }
            ASSERT_EQ(fault_of({first, second}), applies ? "" : "rules[1]");
        }
}

TEST(FindRuleFault, sees_what_several_rules_catch_together) {
    EXPECT_EQ(fault_of({on({Cause::exit}), on({Cause::oom}), on({Cause::oom, Cause::exit})}),
              "rules[2]");
    EXPECT_EQ(fault_of({on({}, {1}), on({}, {2}), on({}, {2, 1})}), "rules[2]");
    EXPECT_EQ(fault_of({on({}, {1}), on({}, {2}), on({}, {2, 3})}), "");
}

TEST(FindRuleFault, refuses_what_would_never_pause) {
    auto rule = on({Cause::exit});
    rule.times = always;
    EXPECT_EQ(fault_of({rule}), "");
    rule.wait = {};
    EXPECT_EQ(fault_of({rule}), "rules[0].wait");
    rule.causes = {Cause::worker_lost, Cause::evicted};
    EXPECT_EQ(fault_of({rule}), "");
}

TEST(FindRuleFault, refuses_numbers_out_of_range) {
    const auto with_rule = [](auto change) {
        auto rule = on({Cause::exit});
        change(rule);
        return fault_of({rule});
    };
    EXPECT_EQ(with_rule([](auto& r) { r.wait = days(3651); }), "rules[0].wait");
    EXPECT_EQ(with_rule([](auto& r) { r.wait_max = seconds(-1); }), "rules[0].wait_max");
    EXPECT_EQ(with_rule([](auto& r) { r.jitter_percent = 101; }), "rules[0].jitter");
    EXPECT_EQ(with_rule([](auto& r) { r.text = std::string(1025, 'x'); }), "rules[0].text");
    EXPECT_EQ(with_rule([](auto& r) { r.then = LastResort::expire; }), "rules[0].then");
    std::vector<CustomRule> many;
    for (int i = 1; i <= 33; ++i) many.push_back(on({}, {i}));
    EXPECT_EQ(fault_of(many), "rules");
}

// E3.
TEST(FindRuleConflict, is_a_once_job_that_would_run_again_after_its_own_failure) {
    for (const auto cause : every_cause()) {
        if (!is_for_rules(cause)) continue;
        auto rule = on({cause});
        EXPECT_EQ(find_rule_conflict({rule}, Effects::once).has_value(), is_own_exit(cause));
        EXPECT_FALSE(find_rule_conflict({rule}, Effects::repeatable));
        EXPECT_FALSE(find_rule_conflict({rule}, Effects::resumable));
        rule.times = 0;
        EXPECT_FALSE(find_rule_conflict({rule}, Effects::once));
    }
    EXPECT_EQ(find_rule_conflict({on({})}, Effects::once)->place, "rules[0].times");
}

}  // namespace
}  // namespace perdure::custom_policy_test
