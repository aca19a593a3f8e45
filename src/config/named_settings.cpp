#include "config/named_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/words.h"
#include "core/job/submit.h"
#include "wire/policy_text.h"

namespace perdure {
namespace {

constexpr std::array<std::string_view, 3> built_in = {"default", "never", "forever"};
constexpr std::array<std::string_view, 4> groups = {"policies.", "queues.", "kinds.", "workers."};
constexpr std::array<std::string_view, 1> weight_alone = {"weight"};
constexpr std::size_t worker_name_max = 255;

bool is_built_in(std::string_view name) {
    return std::find(built_in.begin(), built_in.end(), name) != built_in.end();
}

Error refused(const std::string& place, const std::string& why) {
    return error(Errc::invalid, place + ": " + why);
}

Error unknown(const std::string& place, std::string_view name, std::string_view meant) {
    return refused(place, fmt::format("there is no setting {}; did you mean {}?", name, meant));
}

Error bad_name(const std::string& place, std::string_view name) {
    return refused(place, fmt::format("{} must be 1 to 64 of a-z 0-9 . _ - and begin with a letter "
                                      "or digit",
                                      name));
}

// Workers are called as their hosts are. What is set must survive as a flag, NAME=VALUE.
bool is_name_of_worker(std::string_view name) {
    const auto fits = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '='; };
    return !name.empty() && name.size() <= worker_name_max &&
           std::all_of(name.begin(), name.end(), fits);
}

Error bad_name_of_worker(const std::string& place, std::string_view name) {
    return refused(place, fmt::format("\"{}\" is no name of a worker: 1 to 255 bytes without "
                                      "spaces and =",
                                      name));
}

// "queues.slow.policy" is "queues.", "slow", "policy"; without a last part that is empty.
struct Parts {
    std::string_view group;
    std::string name;
    std::string_view field;
};
Parts parts_of(std::string_view full) {
    Parts parts;
    for (const auto group : groups)
        if (full.starts_with(group)) parts.group = group;
    const auto rest = full.substr(parts.group.size());
    const auto dot = rest.rfind('.');
    parts.name = std::string(rest.substr(0, dot));
    if (dot != std::string_view::npos) parts.field = rest.substr(dot + 1);
    return parts;
}

// "rules[2].causes[0]" is about rule 2.
std::optional<std::size_t> rule_in(std::string_view place) {
    constexpr std::string_view prefix = "rules[";
    if (!place.starts_with(prefix)) return std::nullopt;
    place.remove_prefix(prefix.size());
    std::size_t index = 0;
    const auto read = std::from_chars(place.data(), place.data() + place.size(), index);
    if (read.ec != std::errc()) return std::nullopt;
    return index;
}

std::optional<std::uint32_t> weight_of(std::string_view text) {
    std::uint32_t weight = 0;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, weight);
    const bool is_number = read.ec == std::errc() && read.ptr == end;
    if (!is_number || weight < 1 || weight > weight_max) return std::nullopt;
    return weight;
}

}  // namespace

bool NamedSettings::owns(std::string_view name) {
    for (const auto group : groups)
        if (name.starts_with(group)) return true;
    return false;
}

Result<void> NamedSettings::put(std::string_view full, Part part, Form form) {
    const auto [group, name, field] = parts_of(full);
    const auto& place = part.origin.place;
    const bool of_worker = group == "workers.";
    if (of_worker && !is_name_of_worker(name)) return bad_name_of_worker(place, name);
    if (!of_worker && !is_name(name)) return bad_name(place, name);
    if (group == "policies.") return put_policy(full, std::move(part), form);
    if (group == "queues." && field == "weight") {
        if (form == Form::json || !weight_of(part.text))
            return refused(place, fmt::format("{} must be a whole number from 1 to {}, not {}",
                                              full, weight_max, part.text));
        weights_[name] = std::move(part);
        return {};
    }
    if (field != "policy") {
        const bool is_weight = group == "queues." && !nearest(field, weight_alone).empty();
        return unknown(place, full,
                       fmt::format("{}{}.{}", group, name, is_weight ? "weight" : "policy"));
    }
    if (form == Form::json)
        return refused(place, fmt::format("{} must be the name of a policy", full));
    (of_worker ? workers_ : group == "queues." ? queues_ : kinds_)[name] = std::move(part);
    return {};
}

Result<void> NamedSettings::put_policy(std::string_view full, Part part, Form form) {
    const auto [group, name, field] = parts_of(full);
    const auto& place = part.origin.place;
    if (is_built_in(name))
        return refused(place,
                       fmt::format("{} is built in and stays as it is; choose another name", name));
    if (field == "base" && form == Form::words) {
        if (!is_built_in(part.text))
            return refused(place, fmt::format("{} must be default, never or forever, not \"{}\"",
                                              full, part.text));
        policies_[name].base = std::move(part);
    } else if (field == "rules" && form == Form::json) {
        policies_[name].rules = std::move(part);
    } else if (field == "rules" || field == "base") {
        return refused(place, fmt::format("{} must be {}", full,
                                          field == "base" ? "default, never or forever"
                                                          : "a list of rules: [{ causes = …, times "
                                                            "= … }]"));
    } else {
        return unknown(place, full, fmt::format("policies.{}.rules", name));
    }
    return {};
}

Result<void> NamedSettings::take(const FileEntry& entry, const std::string& path) {
    Part part{.origin = {Origin::Kind::file, fmt::format("{}:{}", path, entry.line)},
              .lines = entry.element_lines,
              .path = path};
    part.text = value_text(entry.value);
    const auto* words = std::get_if<std::vector<std::string>>(&entry.value);
    if (words && words->empty()) part.text = "[]";  // a list of nothing is one of rules, too
    const bool is_json = entry.is_json || (words && words->empty());
    return put(entry.name, std::move(part), is_json ? Form::json : Form::words);
}

Result<void> NamedSettings::take_flag(const std::string& name, const std::string& value,
                                      const std::string& flag) {
    Part part{.text = value, .origin = {Origin::Kind::flag, flag}, .lines = {}, .path = ""};
    if (!name.starts_with(groups[0])) return put(name, std::move(part), Form::words);
    const auto policy = name.substr(groups[0].size());
    if (!is_name(policy)) return bad_name(flag, policy);
    policies_[policy] = {.base = {}, .rules = {}, .whole = std::move(part)};
    return {};
}

Result<void> NamedSettings::choose_policy(const std::string& name, const Policy& policy,
                                          NamedChoice& into) const {
    const auto& first = policy.whole ? policy.whole : policy.rules ? policy.rules : policy.base;
    const auto json = policy.whole ? policy.whole->text
                                   : fmt::format(R"({{"base":"{}","rules":{}}})",
                                                 policy.base ? policy.base->text : "default",
                                                 policy.rules ? policy.rules->text : "[]");
    PolicyChoice choice{.custom = {}, .rules = {}};
    if (const auto parse_error = read_policy_text(json, choice)) {
        auto place = first->origin.place;
        const auto rule = rule_in(parse_error->place);
        if (rule && *rule < first->lines.size())
            place = fmt::format("{}:{}", first->path, first->lines[*rule]);
        return refused(
            place, fmt::format("policies.{}{}{}: {}", name, parse_error->place.empty() ? "" : ".",
                               parse_error->place, parse_error->what));
    }
    into.shown.push_back({"policies." + name, policy_text(choice), first->origin});
    choice.custom = name;
    into.book.named[name] = std::move(choice);
    return {};
}

Result<NamedSettings::NamedChoice> NamedSettings::choose(const std::string& of_server,
                                                         const std::string& place) const {
    NamedChoice chosen_names;
    for (const auto& [name, policy] : policies_)
        if (auto done = choose_policy(name, policy, chosen_names); !done) return done.error();
    const auto use = [&](const auto& parts, std::string_view group, auto& of) -> Result<void> {
        for (const auto& [name, part] : parts) {
            if (!knows(chosen_names.book, part.text))
                return refused(part.origin.place, no_such_policy(chosen_names.book, part.text));
            of[name] = part.text;
            chosen_names.shown.push_back(
                {fmt::format("{}{}.policy", group, name), part.text, part.origin});
        }
        return {};
    };
    if (auto done = use(queues_, "queues.", chosen_names.book.of_queue); !done) return done.error();
    for (const auto& [name, part] : weights_) {
        chosen_names.weights.of_queue[name] = *weight_of(part.text);
        chosen_names.shown.push_back(
            {fmt::format("queues.{}.weight", name), part.text, part.origin});
    }
    if (auto done = use(kinds_, "kinds.", chosen_names.book.of_kind); !done) return done.error();
    if (auto done = use(workers_, "workers.", chosen_names.book.of_worker); !done)
        return done.error();
    if (!knows(chosen_names.book, of_server))
        return refused(place, no_such_policy(chosen_names.book, of_server));
    chosen_names.book.of_server = of_server;
    return chosen_names;
}

}  // namespace perdure
