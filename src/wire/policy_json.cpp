#include "wire/policy_json.h"

#include <fmt/format.h>

#include <boost/json/value.hpp>

#include "base/words.h"
#include "core/job/submit.h"
#include "core/policy/custom_policy.h"
#include "wire/policy_text.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

constexpr std::array<std::string_view, 3> policy_names = {"default", "never", "forever"};
constexpr std::array<std::string_view, 2> then_names = {"fail", "quarantine"};
static_assert(policy_names[2] == to_string(PolicyName::forever));
static_assert(static_cast<int>(LastResort::quarantine) == 1);

void read_cause(At at, std::vector<Cause>& into) {
    std::string word;
    at.read(word);
    if (!at.ok()) return;
    const auto causes = causes_named(word);
    into.insert(into.end(), causes.begin(), causes.end());
    if (!causes.empty()) return;
    const auto known = words_for_causes();
    const auto near = nearest(word, known);
    if (near.empty())
        return at.parse_error(
            fmt::format("there is no cause \"{}\": {}", word, fmt::join(known, ", ")));
    at.parse_error(fmt::format("there is no cause \"{}\"; did you mean {}?", word, near));
}

void read_causes(At at, std::vector<Cause>& into) {
    into.clear();
    at.elements([&](At element) { read_cause(element, into); });
    if (into.empty()) at.parse_error("must name at least one cause; leave it out to mean all");
}

void read_codes(At at, std::vector<std::int32_t>& into) {
    into.clear();
    at.elements([&](At element) { element.read(into.emplace_back()); });
    if (into.empty()) at.parse_error("must have at least one exit code; leave it out to mean all");
}

void read_times(At at, std::uint32_t& into) {
    const auto word = at.text();
    if (word && *word == "always") {
        into = CustomRule::always;
    } else if (at.is_number()) {
        at.read_between(into, 0, CustomRule::always - 1);
    } else {
        at.parse_error("must be a number of more runs, or \"always\"");
    }
}

using RuleField = JsonField<CustomRule>;
constexpr std::array rule_fields = {
    RuleField{"causes", [](At at, CustomRule& r) { read_causes(at, r.causes); }},
    RuleField{"exit_codes", [](At at, CustomRule& r) { read_codes(at, r.exit_codes); }},
    RuleField{"text", [](At at, CustomRule& r) { at.read(r.text); }},
    RuleField{"times", [](At at, CustomRule& r) { read_times(at, r.times); }},
    RuleField{"wait", [](At at, CustomRule& r) { at.read(r.wait); }},
    RuleField{"wait_max", [](At at, CustomRule& r) { at.read(r.wait_max); }},
    RuleField{"growth", [](At at, CustomRule& r) { read_enum(at, growth_names, r.growth); }},
    RuleField{"jitter", [](At at, CustomRule& r) { at.read_between(r.jitter_percent, 0, 100); }},
    RuleField{"another_worker", [](At at, CustomRule& r) { at.read(r.another_worker); }},
    RuleField{"then", [](At at, CustomRule& r) { read_enum(at, then_names, r.then); }},
};

using PolicyField = JsonField<PolicyChoice>;
constexpr std::array policy_fields = {
    PolicyField{"base", [](At at, PolicyChoice& p) { read_enum(at, policy_names, p.name); }},
    PolicyField{"rules",
                [](At at, PolicyChoice& p) {
                    at.elements([&](At rule) {
                        read_fields<CustomRule>(rule, rule_fields, p.rules.emplace_back());
                    });
                }},
};

void read_name(At at, PolicyChoice& into) {
    std::string name;
    at.read(name);
    for (std::size_t i = 0; i < policy_names.size(); ++i)
        if (policy_names[i] == name) {
            into.name = static_cast<PolicyName>(i);
            return;
        }
    if (!is_name(name))
        return at.parse_error("must be default, never, forever or the name of a configured policy");
    into.custom = name;
}

template <class Values>
void write_list(JsonWriter& out, std::string_view name, const Values& values) {
    if (values.empty()) return;
    out.key(name);
    out.begin_array();
    for (const auto& value : values) out.value(value);
    out.end_array();
}

void write_rule(JsonWriter& out, const CustomRule& rule) {
    std::vector<std::string_view> causes;
    for (const auto cause : rule.causes) causes.push_back(to_string(cause));
    out.begin_object();
    write_list(out, "causes", causes);
    write_list(out, "exit_codes", rule.exit_codes);
    if (!rule.text.empty()) out.field("text", rule.text);
    if (rule.times == CustomRule::always)
        out.field("times", "always");
    else
        out.field("times", rule.times);
    out.field("wait", duration_text(rule.wait));
    out.field("growth", growth_names[static_cast<std::size_t>(rule.growth)]);
    out.field("wait_max", duration_text(rule.wait_max));
    out.field("jitter", rule.jitter_percent);
    out.flag("another_worker", rule.another_worker);
    out.field("then", then_names[rule.then == LastResort::quarantine ? 1 : 0]);
    out.end_object();
}

}  // namespace

void read_policy(At at, PolicyChoice& into) {
    into.name = PolicyName::default_;
    into.custom.clear();
    into.rules.clear();
    if (at.is_text()) return read_name(at, into);
    if (!at.is_object())
        return at.parse_error("must be the name of a policy, or an object with `base` and `rules`");
    at.members([&](std::string_view name, At member) {
        for (const auto& field : policy_fields)
            if (field.name == name) return field.read(member, into);
        // A server tells workers which configured policy it was.
        if (!at.ignores_unknown()) return member.parse_error("there is no such field");
        if (name == "name") member.read(into.custom);
    });
}

void write_rules(JsonWriter& out, const std::vector<CustomRule>& rules) {
    out.begin_array();
    for (const auto& rule : rules) write_rule(out, rule);
    out.end_array();
}

void write_policy(JsonWriter& out, const PolicyChoice& policy) {
    if (policy.custom.empty() && policy.rules.empty()) return out.value(to_string(policy.name));
    out.begin_object();
    if (!policy.custom.empty()) out.field("name", policy.custom);
    out.field("base", to_string(policy.name));
    out.key("rules");
    write_rules(out, policy.rules);
    out.end_object();
}

std::optional<PolicyParseError> read_policy_text(std::string_view json, PolicyChoice& into) {
    const auto inside = [](std::string_view path) {
        path.remove_prefix(path.starts_with("$.") ? 2 : 1);
        return std::string(path);
    };
    JsonTree root;
    if (auto parse_error = parse_strict(json, root))
        return PolicyParseError{inside(parse_error->path), std::move(parse_error->what)};
    Reading reading;
    read_policy(JsonCursor(root, reading), into);
    if (reading.parse_error)
        return PolicyParseError{inside(reading.parse_error->path),
                                std::move(reading.parse_error->what)};
    if (auto fault = find_rule_fault(into.rules))
        return PolicyParseError{std::move(fault->place), std::move(fault->what)};
    return std::nullopt;
}

std::string policy_text(const PolicyChoice& policy) {
    std::string text;
    JsonWriter out(text);
    write_policy(out, policy);
    return text;
}

}  // namespace perdure
