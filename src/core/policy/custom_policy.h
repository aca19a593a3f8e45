// Custom policies: an author's own rules. The first that fits an end judges it; what none of them
// judges is left to the built-in policy. How often a rule was used is derived from the ends that
// carry its number (AttemptEnd::matched), so that a server can decide for a dead worker.
//   Q1  An end that a rule judged counts for that rule alone, never for a class of causes.
//   Q2  Some ends are nobody's to choose: cancelled, timeout(queue), command_unusable, and all
//       that did not run. No rule judges them.
//   Q3  Effects guard the answer "again", whichever rule gives it (E3).
//   Q4  Every policy counts all ends: what another one judged, on another worker, it judges anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/explain/evidence.h"
#include "core/job/field_bytes.h"
#include "core/job/job.h"
#include "core/policy/cause.h"
#include "core/policy/policy.h"

namespace perdure {

inline constexpr std::size_t custom_rules_max = 32;

// May a rule judge this cause at all (Q2)?
bool is_for_rules(Cause cause);

// What a word in `causes` stands for: a cause, or with `crash`, `timeout` or `verdict` every cause
// of that name that a rule may judge. Empty: there is no such cause.
std::vector<Cause> causes_named(std::string_view word);
// All words that there are, for suggestions.
std::vector<std::string_view> words_for_causes();

// The causes that a rule can judge, whatever else must fit.
std::vector<Cause> causes_of(const CustomRule& rule);

// Which policy of a worker's own has judged an end: a number for its base and its rules. Zero for
// every policy that is not a worker's, because a job has only one of those.
std::uint64_t fingerprint_of(const PolicyChoice& policy);
void add_rules(FieldBytes& bytes, const std::vector<CustomRule>& rules);

// The end with the number of the rule that judges it, and of the policy. Text is known only from a
// report: without evidence no rule that asks for one fits.
AttemptEnd judged(AttemptEnd end, const PolicyChoice& policy, const Evidence* evidence);

// How often each class and each rule of this policy ended an attempt (Q4). `ends` in order of their
// epochs; nullptr for an attempt that has no end. What another policy judged is judged by this one
// without its text.
CauseCounts count_causes(const std::vector<const AttemptEnd*>& ends, const PolicyChoice& policy);

// The rule that judged an end, in the form of every policy's lines. matched: 1 to rules.size().
PolicyRule line_of(const PolicyChoice& policy, std::uint8_t matched);

// Empty if all rules make sense; otherwise the place to blame, like "rules[2].causes[0]", and a
// sentence that says what to change.
struct RuleFault {
    std::string place;
    std::string what;
};
std::optional<RuleFault> find_rule_fault(const std::vector<CustomRule>& rules);
// A `once` job cannot be run again after a failure of its own.
std::optional<RuleFault> find_rule_conflict(const std::vector<CustomRule>& rules, Effects effects);

}  // namespace perdure
