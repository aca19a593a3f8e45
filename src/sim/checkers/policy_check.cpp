// What a job's policy allows: budgets [P6], the author's rules in their order, and every decision
// as its history says [P10].
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/probe.h"
#include "core/policy/custom_policy.h"
#include "core/policy/recovery.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

// Said once more here: a bug in the original must not judge itself. No rule of a simulation asks
// for a text.
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

// As a policy counts one end: what another one said about it is nothing to it.
AttemptEnd as_judged_by(const PolicyChoice& policy, AttemptEnd end) {
    end.matched = static_cast<std::uint8_t>(first_that_fits(policy, end));
    return end;
}

}  // namespace

// Said once more here, too: a job that has only inherited the server's policy is judged by that of
// the worker on which the attempt ended.
PolicyChoice Checker::judge_of(const JobView& job, const AttemptView& attempt) const {
    auto policy = job.spec->policy;
    if (policy.level != PolicyLevel::server) return policy;
    const auto session = parts_.session(attempt.session);
    if (!session || !session->policy) return policy;
    reached<"judged_by_the_policy_of_a_worker">();
    policy.name = session->policy->name;
    policy.rules = session->policy->rules;
    policy.custom = session->policy->custom;
    policy.level = PolicyLevel::worker;
    return policy;
}

// All policies that have judged, each with what it counts.
std::vector<Checker::Judge> Checker::judges_of(const JobView& job) const {
    std::vector<Judge> judges;
    for (const auto& attempt : job.attempts) {
        if (attempt.generation != job.generation || !attempt.end) continue;
        const auto policy = judge_of(job, attempt);
        auto found = std::find_if(judges.begin(), judges.end(),
                                  [&](const Judge& judge) { return judge.policy == policy; });
        if (found == judges.end()) found = judges.insert(found, Judge{policy, {}, {}});
        found->judged.insert(attempt.epoch);
    }
    if (judges.size() > 1) reached<"judged_by_policies_of_several_workers">();
    return judges;
}

// [P6] Nobody tries again after an end for which the policy that judged it, and counts all ends of
// this generation, allows no more runs. They are counted here once more, too.
void Checker::check_budget(const JobView& job) {
    using Line = std::pair<std::size_t, CauseClass>;  // a rule's number, or zero and a class
    for (const auto& judge : judges_of(job)) {
        std::map<Line, std::uint32_t> uses;
        for (const auto& attempt : job.attempts) {
            if (!counts(job, attempt)) continue;
            const auto rule = first_that_fits(judge.policy, *attempt.end);
            const auto c = class_of(*attempt.end);
            const auto used = ++uses[rule == 0 ? Line{0, c} : Line{rule, {}}];
            if (!judge.judged.contains(attempt.epoch)) continue;
            if (rule > 0 && used > 1) reached<"own_rule_used_again">();
            const auto times =
                rule > 0 ? judge.policy.rules[rule - 1].times : rule_for(judge.policy, c).times;
            const bool was_last = &attempt == &job.attempts.back();
            if (was_last || times == PolicyRule::always || used <= times) continue;
            report("P6", fmt::format("{} was tried again after {} ends by one {}; its policy "
                                     "allows {} more runs",
                                     job.id.text(), used, rule > 0 ? "rule" : "cause", times));
        }
    }
}

// [P10] The rule that an attempt names is the one that its history and its policy lead to.
void Checker::check_judgement(const JobView& job) {
    auto judges = judges_of(job);
    for (const auto& attempt : job.attempts) {
        if (attempt.generation != job.generation || !attempt.end) continue;
        for (auto& judge : judges) {
            const auto end = as_judged_by(judge.policy, *attempt.end);
            judge.counts = with(judge.counts, end);
            if (judge.judged.contains(attempt.epoch)) check_rule(job, attempt, judge, end);
        }
    }
}

void Checker::check_rule(const JobView& job, const AttemptView& attempt, const Judge& judge,
                         const AttemptEnd& end) {
    if (attempt.end->matched != end.matched)
        report("P10", fmt::format("{} epoch {} was judged by rule {}, not by the first that fits",
                                  job.id.text(), attempt.epoch.value, attempt.end->matched));
    // A person: nobody else knows when the order came.
    if (attempt.rule == "E1/cancelled" || attempt.rule == "E1/not_started") return;
    const auto next = decide_next({.end = end,
                                   .policy = judge.policy,
                                   .effects = job.spec->effects,
                                   .counts = judge.counts,
                                   .attempt = {job.id, attempt.epoch}});
    if (next.rule != attempt.rule)
        report("P10", fmt::format("{} epoch {} names {}, but its history says {}", job.id.text(),
                                  attempt.epoch.value, attempt.rule, next.rule));
}

}  // namespace perdure::sim
