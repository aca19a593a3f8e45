// What a job's policy allows: budgets [P6], the author's rules in their order, and every decision
// as its history says [P10].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/probe.h"
#include "core/custom_policy.h"
#include "core/recovery.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

// Said once more here: a bug in the original must not judge itself. Simulated jobs print nothing.
bool fits(const CustomRule& rule, const AttemptEnd& end) {
    const auto has = [](const auto& list, const auto& one) {
        return std::find(list.begin(), list.end(), one) != list.end();
    };
    if (!rule.text.empty()) return false;
    if (!rule.exit_codes.empty() && !has(rule.exit_codes, end.exit_code)) return false;
    if (!rule.causes.empty()) return has(rule.causes, end.cause);
    return rule.exit_codes.empty() ? is_for_rules(end.cause) : is_own_exit(end.cause);
}

std::size_t first_that_fits(const PolicyChoice& policy, const AttemptEnd& end) {
    const auto c = class_of(end);
    const bool fixed = c == CauseClass::cancelled || c == CauseClass::queue_timeout ||
                       c == CauseClass::unusable || c == CauseClass::did_not_run;
    if (fixed || end.succeeded) return 0;
    for (std::size_t i = 0; i < policy.rules.size(); ++i)
        if (fits(policy.rules[i], end)) return i + 1;
    return 0;
}

bool counts(const JobView& job, const AttemptView& attempt) {
    return attempt.generation == job.generation && attempt.end && !attempt.end->succeeded &&
           attempt.end->counted;
}

}  // namespace

// [P6] No cause, and no rule of the author's, may end more attempts of one generation than it
// allows.
void Checker::check_budget(const JobView& job) {
    std::array<std::uint32_t, cause_class_count> ends{};
    std::vector<std::uint32_t> judged(job.spec->policy.rules.size() + 1);
    for (const auto& attempt : job.attempts) {
        if (!counts(job, attempt)) continue;
        const auto rule = first_that_fits(job.spec->policy, *attempt.end);
        if (rule == 0) ++ends[static_cast<std::size_t>(class_of(*attempt.end))];
        ++judged[rule];
    }
    const auto compare = [&](std::uint32_t times, std::uint32_t used, std::string_view what) {
        if (times == PolicyRule::always || used <= times + 1) return;
        report("P6", fmt::format("{} was tried {} times for one {}; its policy allows {}",
                                 job.id.text(), used, what, times + 1));
    };
    for (std::size_t c = 0; c < cause_class_count; ++c)
        compare(rule_for(job.spec->policy, static_cast<CauseClass>(c)).times, ends[c], "cause");
    for (std::size_t i = 1; i < judged.size(); ++i) {
        if (judged[i] > 1) reached<"own_rule_used_again">();
        compare(job.spec->policy.rules[i - 1].times, judged[i], "rule");
    }
}

// [P10] The rule that an attempt names is the one that its history and its policy lead to.
void Checker::check_judgement(const JobView& job) {
    CauseCounts so_far;
    for (const auto& attempt : job.attempts) {
        if (attempt.generation != job.generation || !attempt.end) continue;
        const auto& end = *attempt.end;
        so_far = with(so_far, end);
        if (end.matched != first_that_fits(job.spec->policy, end))
            report("P10",
                   fmt::format("{} epoch {} was judged by rule {}, not by the first that fits",
                               job.id.text(), attempt.epoch.value, end.matched));
        // A person: nobody else knows when the order came.
        if (attempt.rule == "E1/cancelled" || attempt.rule == "E1/not_started") continue;
        const auto next = decide_next({.end = end,
                                       .policy = job.spec->policy,
                                       .effects = job.spec->effects,
                                       .counts = so_far,
                                       .attempt = {job.id, attempt.epoch}});
        if (next.rule != attempt.rule)
            report("P10", fmt::format("{} epoch {} names {}, but its history says {}",
                                      job.id.text(), attempt.epoch.value, attempt.rule, next.rule));
    }
}

}  // namespace perdure::sim
