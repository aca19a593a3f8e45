#include "core/policy/custom_policy.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/zoo.h"

namespace perdure {
namespace {

constexpr std::array<std::string_view, 3> class_words = {"crash", "timeout", "verdict"};
constexpr std::size_t text_max = 1024;

// One id for each rule: what is stored with an attempt must outlive every policy.
constexpr std::array<std::string_view, custom_rules_max> rule_ids = {
    "custom/1",  "custom/2",  "custom/3",  "custom/4",  "custom/5",  "custom/6",  "custom/7",
    "custom/8",  "custom/9",  "custom/10", "custom/11", "custom/12", "custom/13", "custom/14",
    "custom/15", "custom/16", "custom/17", "custom/18", "custom/19", "custom/20", "custom/21",
    "custom/22", "custom/23", "custom/24", "custom/25", "custom/26", "custom/27", "custom/28",
    "custom/29", "custom/30", "custom/31", "custom/32",
};

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
    return std::find(range.begin(), range.end(), value) != range.end();
}

bool has_a_code(Cause cause) { return is_own_exit(cause) || cause == Cause::crash_signal; }

bool names(const CustomRule& rule, Cause cause) {
    if (!rule.causes.empty()) return contains(rule.causes, cause);
    // 9 is an exit code, unless somebody says that it is a signal.
    if (!rule.exit_codes.empty()) return is_own_exit(cause);
    return is_for_rules(cause);
}

bool is_found(const std::string& text, const Evidence* evidence) {
    if (text.empty()) return true;
    if (!evidence) return false;
    return evidence->detail.find(text) != std::string::npos ||
           evidence->last_lines.find(text) != std::string::npos;
}

bool fits(const CustomRule& rule, const AttemptEnd& end, const Evidence* evidence) {
    if (!names(rule, end.cause)) return false;
    if (!rule.exit_codes.empty() && !contains(rule.exit_codes, end.exit_code)) return false;
    return is_found(rule.text, evidence);
}

bool no_rule_may_choose(CauseClass c) {
    return c == CauseClass::cancelled || c == CauseClass::queue_timeout ||
           c == CauseClass::unusable || c == CauseClass::did_not_run;
}

// Does `earlier` judge whatever `later` could of this cause and code?
bool catches(const CustomRule& earlier, const CustomRule& later, Cause cause,
             std::optional<std::int32_t> code) {
    if (!names(earlier, cause)) return false;
    const auto& codes = earlier.exit_codes;
    if (!codes.empty() && !(code && contains(codes, *code))) return false;
    return later.text.find(earlier.text) != std::string::npos;
}

// The rule before `index` that leaves nothing of this cause and code to it; zero: there is none.
std::size_t caught_by(const std::vector<CustomRule>& rules, std::size_t index, Cause cause,
                      std::optional<std::int32_t> code) {
    for (std::size_t i = 0; i < index; ++i)
        if (catches(rules[i], rules[index], cause, code)) return i + 1;
    return 0;
}

// The rule that catches the last of what `index` could judge; zero: something is left for it.
std::size_t last_to_catch(const std::vector<CustomRule>& rules, std::size_t index) {
    std::size_t by = 0;
    for (const auto cause : causes_of(rules[index])) {
        std::vector<std::optional<std::int32_t>> codes(rules[index].exit_codes.begin(),
                                                       rules[index].exit_codes.end());
        if (codes.empty()) codes.emplace_back();
        for (const auto code : codes) {
            by = caught_by(rules, index, cause, code);
            if (by == 0) return 0;
        }
    }
    return by;
}

std::string place(std::size_t rule, std::string_view field) {
    return "rules[" + std::to_string(rule) + "]." + std::string(field);
}
std::string place(std::size_t rule, std::string_view field, std::size_t index) {
    return place(rule, field) + "[" + std::to_string(index) + "]";
}

std::string why_not_for_rules(Cause cause) {
    const std::string name(to_string(cause));
    switch (cause) {
        case Cause::cancelled:
            return name + " is a person's word: no policy judges it; leave it out";
        case Cause::timeout_queue:
            return name + " always expires the job: change timeouts.queue instead";
        case Cause::command_unusable:
            return name + " always fails: the command must be corrected; leave it out";
        case Cause::suspect:
            return name + " says nothing about the job, which runs again, alone; leave it out";
        default:
            return name + " means that it did not run, which is always tried again; leave it out";
    }
}

std::optional<RuleFault> check_causes(const CustomRule& rule, std::size_t index) {
    for (std::size_t i = 0; i < rule.causes.size(); ++i) {
        const auto cause = rule.causes[i];
        if (!is_for_rules(cause))
            return RuleFault{place(index, "causes", i), why_not_for_rules(cause)};
        if (!rule.exit_codes.empty() && !has_a_code(cause))
            return RuleFault{place(index, "exit_codes"),
                             std::string(to_string(cause)) +
                                 " has no exit code; name it in a rule of its own, without "
                                 "exit_codes"};
    }
    for (std::size_t i = 0; i < rule.exit_codes.size(); ++i)
        if (rule.exit_codes[i] < 1 || rule.exit_codes[i] > 255)
            return RuleFault{place(index, "exit_codes", i),
                             "an exit code that no run can fail with: 1 to 255"};
    return std::nullopt;
}

// Again and again without a pause is a busy loop, unless it is others who interrupt the job.
bool may_repeat_without_a_pause(const CustomRule& rule) {
    const auto causes = causes_of(rule);
    return std::all_of(causes.begin(), causes.end(), [](Cause cause) {
        return cause == Cause::worker_lost || cause == Cause::host_lost ||
               cause == Cause::cut_off || cause == Cause::evicted || cause == Cause::verdict_at;
    });
}

std::optional<RuleFault> check_numbers(const CustomRule& rule, std::size_t index) {
    const auto is_bad = [](Duration wait) { return wait < Duration{} || wait > duration_max; };
    if (is_bad(rule.wait)) return RuleFault{place(index, "wait"), "a wait is zero to 3650 d"};
    if (is_bad(rule.wait_max))
        return RuleFault{place(index, "wait_max"), "a wait is zero to 3650 d"};
    if (rule.jitter_percent > 100)
        return RuleFault{place(index, "jitter"), "jitter is 0 to 100 percent of the wait"};
    if (rule.text.size() > text_max)
        return RuleFault{place(index, "text"), "a text has at most 1024 bytes"};
    if (rule.then != LastResort::fail && rule.then != LastResort::quarantine)
        return RuleFault{place(index, "then"), "a rule ends in fail or quarantine"};
    const bool busy = rule.times == CustomRule::always && rule.wait == Duration{};
    if (busy && !may_repeat_without_a_pause(rule))
        return RuleFault{place(index, "wait"),
                         "what is always tried again needs a wait, or it would never pause"};
    return std::nullopt;
}

}  // namespace

bool is_for_rules(Cause cause) {
    switch (cause) {
        case Cause::cancelled:
        case Cause::timeout_queue:
        case Cause::command_unusable:
        case Cause::no_resources:
        case Cause::shim_failed:
        case Cause::lock_busy:
        case Cause::suspect: return false;
        default: return true;
    }
}

std::vector<Cause> causes_named(std::string_view word) {
    std::vector<Cause> found;
    for (std::size_t i = 0; i < cause_count; ++i) {
        const auto cause = static_cast<Cause>(i);
        const auto name = to_string(cause);
        if (name == word) return {cause};
        const bool of_class = contains(class_words, word) && name.size() > word.size() &&
                              name.starts_with(word) && name[word.size()] == '(';
        if (of_class && is_for_rules(cause)) found.push_back(cause);
    }
    return found;
}

std::vector<std::string_view> words_for_causes() {
    std::vector<std::string_view> words(class_words.begin(), class_words.end());
    for (std::size_t i = 0; i < cause_count; ++i)
        if (is_for_rules(static_cast<Cause>(i))) words.push_back(to_string(static_cast<Cause>(i)));
    return words;
}

std::vector<Cause> causes_of(const CustomRule& rule) {
    std::vector<Cause> causes;
    for (std::size_t i = 0; i < cause_count; ++i)
        if (names(rule, static_cast<Cause>(i))) causes.push_back(static_cast<Cause>(i));
    return causes;
}

void add_rules(FieldBytes& bytes, const std::vector<CustomRule>& rules) {
    bytes.add(rules.size());
    for (const auto& rule : rules) {
        bytes.add(rule.causes.size());
        bytes.add(rule.exit_codes.size());
        for (const auto cause : rule.causes) bytes.add(to_string(cause));
        for (const auto code : rule.exit_codes) bytes.add(static_cast<std::uint64_t>(code));
        bytes.add(rule.text);
        bytes.add(rule.times);
        bytes.add(rule.wait);
        bytes.add(rule.wait_max);
        bytes.add(static_cast<std::uint64_t>(rule.growth));
        bytes.add(rule.jitter_percent);
        bytes.add(rule.another_worker);
        bytes.add(static_cast<std::uint64_t>(rule.then));
    }
}

std::uint64_t fingerprint_of(const PolicyChoice& policy) {
    if (policy.level != PolicyLevel::worker) return 0;
    FieldBytes bytes;
    bytes.add(to_string(policy.name));
    add_rules(bytes, policy.rules);
    return fnv_hash(bytes.view());
}

AttemptEnd judged(AttemptEnd end, const PolicyChoice& policy, const Evidence* evidence) {
    end.matched = 0;
    end.policy_fingerprint = fingerprint_of(policy);
    if (end.succeeded || no_rule_may_choose(class_of(end))) return end;
    const auto rules = std::min(policy.rules.size(), custom_rules_max);
    for (std::size_t i = 0; i < rules; ++i) {
        if (!fits(policy.rules[i], end, evidence)) continue;
        end.matched = static_cast<std::uint8_t>(i + 1);
        if (!zoo(Bug::last_rule_judges)) break;
    }
    return end;
}

CauseCounts count_causes(const std::vector<const AttemptEnd*>& ends, const PolicyChoice& policy) {
    constexpr AttemptEnd worst{.cause = Cause::crash_signal};
    const auto mark = fingerprint_of(policy);
    CauseCounts counts;
    for (const AttemptEnd* end : ends) {
        if (!end)
            counts = with(counts, worst);
        else
            counts = with(counts,
                          end->policy_fingerprint == mark ? *end : judged(*end, policy, nullptr));
    }
    return counts;
}

PolicyRule line_of(const PolicyChoice& policy, std::uint8_t matched) {
    PERDURE_ASSERT(matched >= 1 && matched <= policy.rules.size());
    const auto& rule = policy.rules[matched - 1U];
    const auto causes = causes_of(rule);
    const bool crashes = std::any_of(causes.begin(), causes.end(), [](Cause cause) {
        return class_of({.cause = cause, .ran = Ran::yes}) == CauseClass::crash;
    });
    return {.times = rule.times,
            .first_wait = rule.wait,
            .wait_max = std::max(rule.wait, rule.wait_max),
            .growth = rule.growth,
            .jitter_percent = rule.jitter_percent,
            .then = rule.then,
            .another_worker = rule.another_worker,
            // Poison that nothing contains must at least be heard [P6].
            .alarming = crashes && rule.times == CustomRule::always,
            .rule = rule_ids[matched - 1U]};
}

std::optional<RuleFault> find_rule_fault(const std::vector<CustomRule>& rules) {
    if (rules.size() > custom_rules_max) return RuleFault{"rules", "a policy has at most 32 rules"};
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (auto fault = check_causes(rules[i], i)) return fault;
        if (auto fault = check_numbers(rules[i], i)) return fault;
        if (const auto by = last_to_catch(rules, i))
            return RuleFault{"rules[" + std::to_string(i) + "]",
                             "this rule can never apply: rules[" + std::to_string(by - 1) +
                                 "] is asked first and judges all that it could; put it before "
                                 "that one, or leave it out"};
    }
    return std::nullopt;
}

std::optional<RuleFault> find_rule_conflict(const std::vector<CustomRule>& rules, Effects effects) {
    if (effects != Effects::once) return std::nullopt;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto causes = causes_of(rules[i]);
        if (rules[i].times > 0 && std::any_of(causes.begin(), causes.end(), is_own_exit))
            return RuleFault{place(i, "times"),
                             "a `once` job cannot run again after a failure of its own: make it 0, "
                             "or declare the job repeatable"};
    }
    return std::nullopt;
}

}  // namespace perdure
