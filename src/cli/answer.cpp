#include "cli/answer.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/human.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

const boost::json::value nothing;

bool is_plain_word(std::string_view word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
    return !word.empty() && word.find_first_not_of(plain) == std::string_view::npos;
}

std::string quoted(std::string_view word) {
    if (is_plain_word(word)) return std::string(word);
    std::string made = "'";
    for (const char c : word) {
        if (c == '\'')
            made += "'\\''";
        else
            made += c;
    }
    return made + "'";
}

std::string plain_text(const boost::json::value& value) {
    if (value.is_null()) return "";
    if (const auto* text = value.if_string()) return std::string(text->data(), text->size());
    return boost::json::serialize(value);
}

}  // namespace

const boost::json::value& member(const boost::json::value& from, std::string_view name) {
    const auto* object = from.if_object();
    if (!object) return nothing;
    const auto* found = object->if_contains({name.data(), name.size()});
    return found ? *found : nothing;
}

bool has(const boost::json::value& from, std::string_view name) {
    return !member(from, name).is_null();
}

std::string text_of(const boost::json::value& from, std::string_view name) {
    return plain_text(member(from, name));
}

std::int64_t number_of(const boost::json::value& from, std::string_view name) {
    const auto& found = member(from, name);
    if (const auto* number = found.if_int64()) return *number;
    return 0;
}

bool truth_of(const boost::json::value& from, std::string_view name) {
    const auto* truth = member(from, name).if_bool();
    return truth && *truth;
}

const boost::json::array& list_of(const boost::json::value& from, std::string_view name) {
    static const boost::json::array none;
    const auto* list = member(from, name).if_array();
    return list ? *list : none;
}

std::optional<WallTime> time_of(const boost::json::value& from, std::string_view name) {
    return time_value(text_of(from, name));
}

std::string relative_of(const boost::json::value& from, std::string_view name, WallTime now) {
    const auto at = time_of(from, name);
    return at ? relative(*at, now) : "";
}

std::string spoken_of(const boost::json::value& from, std::string_view name) {
    const auto duration = duration_value(text_of(from, name));
    return duration ? spoken(*duration) : "";
}

std::string joined_of(const boost::json::value& from, std::string_view name) {
    std::string made;
    for (const auto& word : list_of(from, name)) {
        if (!made.empty()) made += ", ";
        made += plain_text(word);
    }
    return made;
}

std::string policy_of(const boost::json::value& job) {
    const auto& policy = member(job, "policy");
    if (!policy.is_object()) return text_of(job, "policy");
    const auto rules = list_of(policy, "rules").size();
    const auto name = has(policy, "name") ? text_of(policy, "name") : "of its own";
    return fmt::format("{} ({} rule{}, else {})", name, rules, rules == 1 ? "" : "s",
                       text_of(policy, "base"));
}

std::string usage_of(const boost::json::value& evidence) {
    const auto user = duration_value(text_of(evidence, "cpu_user")).value_or(Duration{});
    const auto system = duration_value(text_of(evidence, "cpu_system")).value_or(Duration{});
    if (!has(evidence, "cpu_user")) return "";
    auto text = fmt::format("{} cpu ({} user, {} system)", spoken(user + system), spoken(user),
                            spoken(system));
    for (const auto& [name, word] : {std::pair{"read_bytes", "read"}, {"write_bytes", "written"}})
        if (const auto bytes = number_of(evidence, name); bytes > 0)
            text += fmt::format(", {} {}", spoken_size(static_cast<std::uint64_t>(bytes)), word);
    return text;
}

std::string progress_of(const boost::json::value& job) {
    if (!has(job, "progress")) return "";
    const auto& progress = member(job, "progress");
    const auto text = text_of(progress, "text");
    return text_of(progress, "percent") + " %" + (text.empty() ? "" : " " + text);
}

std::string submitter_of(const boost::json::value& job) {
    const auto& who = member(job, "submitted_by");
    auto name = text_of(who, "name");
    if (!has(who, "uid")) return name;
    const auto uid = "uid " + text_of(who, "uid");
    if (name.empty() || name == uid) return uid;
    return name + " (" + uid + ")";
}

std::string what_it_does(const boost::json::value& job) {
    std::string made;
    for (const auto& word : list_of(job, "argv")) {
        if (!made.empty()) made += ' ';
        made += quoted(plain_text(word));
    }
    if (made.empty()) made = text_of(job, "kind");
    return made;
}

std::string escaped(std::string_view text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.~";
    std::string made;
    for (const char c : text) {
        if (plain.find(c) != std::string_view::npos)
            made += c;
        else
            made += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return made;
}

ExitCode unreachable(Terminal& term, const ApiCaller& api, const Error& error) {
    const bool is_told_by_itself = error.code == Errc::outcome_unknown ||
                                   error.code == Errc::invalid || error.code == Errc::forbidden;
    if (is_told_by_itself) return term.fail(error);
    // The client names each address that it has tried; an interrupted call has none to name.
    term.say(error.what.empty() ? "no server answers at " + api.where() : error.what);
    term.say("start a server with `perdure up`, or name another one with --server URL");
    return ExitCode::unreachable;
}

Asked ask(ApiCaller& api, Terminal& term, const ApiRequest& request) {
    auto answer = api.request(request);
    if (!answer) return {std::nullopt, unreachable(term, api, answer.error()), 0};
    if (!answer->ok())
        return {std::nullopt, term.fail(answer->refusal, answer->path), answer->status};
    return {std::move(answer->body), ExitCode::ok, answer->status};
}

namespace {

// In the place of the one that it may have.
std::string with_parameter(std::string target, std::string_view name, const std::string& value) {
    for (const char mark : {'?', '&'}) {
        const auto at = target.find(fmt::format("{}{}=", mark, name));
        if (at == std::string::npos) continue;
        const auto from = at + name.size() + 2;
        return target.replace(from, target.find('&', from) - from, value);
    }
    const char mark = target.find('?') == std::string::npos ? '?' : '&';
    return fmt::format("{}{}{}={}", target, mark, name, value);
}

}  // namespace

Asked ask_pages(ApiCaller& api, Terminal& term, const Pages& pages) {
    boost::json::array lines;
    boost::json::array damaged;
    for (auto target = pages.target;;) {
        auto asked = ask(api, term, {.target = target});
        if (!asked) return asked;
        auto& page = *asked.body;
        for (const auto& line : list_of(page, pages.list)) lines.push_back(line);
        for (const auto& row : list_of(page, "damaged")) damaged.push_back(row);
        const bool is_enough = pages.until == Pages::Until::lines && !lines.empty();
        if (!is_enough && has(page, "next")) {
            target = with_parameter(pages.target, pages.cursor, escaped(text_of(page, "next")));
            continue;
        }
        if (!page.is_object()) return asked;
        page.as_object()[pages.list] = std::move(lines);
        if (!damaged.empty()) page.as_object()["damaged"] = std::move(damaged);
        return asked;
    }
}

}  // namespace perdure::cli
