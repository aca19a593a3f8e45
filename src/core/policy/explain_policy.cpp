#include "core/policy/explain_policy.h"

#include <algorithm>
#include <optional>

#include "core/policy/custom_policy.h"

namespace perdure {
namespace {

// What no rule may judge is told by causes that come with "it did not run"; a suspect ran.
AttemptEnd end_of(const Outlook::End& how) {
    return {.cause = how.cause,
            .ran = is_for_rules(how.cause) || how.cause == Cause::suspect ? Ran::yes : Ran::no,
            .alone = how.alone,
            .at = WallTime{}};
}

std::vector<Outlook::End> every_end() {
    std::vector<Outlook::End> ends;
    for (std::size_t i = 0; i < cause_count; ++i) ends.push_back({static_cast<Cause>(i), false});
    ends.push_back({Cause::worker_lost, true});
    ends.push_back({Cause::host_lost, true});
    return ends;
}

Outlook outlook(const OutlookFacts& facts, const Outlook::End& how, const AttemptEnd& end) {
    const auto c = class_of(end);
    Outlook result{.ends = {how}};
    result.line = end.matched ? line_of(facts.policy, end.matched) : rule_for(facts.policy, c);
    result.used = end.matched ? facts.counts.of_rule(end.matched) : facts.counts[c];
    result.next = decide_next({.end = end,
                               .policy = facts.policy,
                               .effects = facts.effects,
                               .counts = with(facts.counts, end)});
    return result;
}

bool same_answer(const Outlook& a, const Outlook& b) {
    return a.rule_number == b.rule_number && a.line.rule == b.line.rule && a.used == b.used &&
           a.next == b.next;
}

void add(std::vector<Outlook>& all, Outlook more) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Outlook& each) { return same_answer(each, more); });
    if (found == all.end()) return all.push_back(std::move(more));
    found->ends.push_back(more.ends.front());
}

// The end that just meets the rule's conditions; empty if another rule judges that one.
std::optional<AttemptEnd> meeting(const PolicyChoice& policy, std::size_t rule,
                                  const Outlook::End& how) {
    const auto& conditions = policy.rules[rule];
    auto end = end_of(how);
    if (!conditions.exit_codes.empty()) end.exit_code = conditions.exit_codes.front();
    Evidence evidence;
    evidence.detail = conditions.text;
    end = judged(end, policy, &evidence);
    if (end.matched != rule + 1) return std::nullopt;
    return end;
}

}  // namespace

std::vector<Outlook> explain_policy(const OutlookFacts& facts) {
    std::vector<Outlook> all;
    const auto& rules = facts.policy.rules;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].exit_codes.empty() && rules[i].text.empty()) continue;
        for (const auto& how : every_end()) {
            const auto end = meeting(facts.policy, i, how);
            if (!end) continue;
            auto more = outlook(facts, how, *end);
            more.rule_number = end->matched;
            add(all, std::move(more));
        }
    }
    for (const auto& how : every_end())
        add(all, outlook(facts, how, judged(end_of(how), facts.policy, nullptr)));
    return all;
}

}  // namespace perdure
