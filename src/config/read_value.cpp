// Reading and checking of single values: settings.h, the part that is not the table.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/words.h"
#include "config/settings.h"
#include "core/access/access.h"
#include "core/job/webhook.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

Error refused(const Setting& setting, std::string_view given) {
    return error(Errc::invalid,
                 fmt::format("{} must be {}, not \"{}\"", setting.name, wanted(setting), given));
}

bool is_name(std::string_view name) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty() || name.size() > 64 || !plain(name.front())) return false;
    return std::all_of(name.begin(), name.end(),
                       [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_choice(std::string_view choices, std::string_view word) {
    while (!choices.empty()) {
        const auto bar = std::min(choices.find('|'), choices.size());
        if (choices.substr(0, bar) == word) return true;
        choices.remove_prefix(std::min(bar + 1, choices.size()));
    }
    return false;
}

// One line, nothing that a terminal or a log would stumble over.
bool is_plain_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// "alice" or "alice:viewer".
bool is_account(std::string_view text) {
    const auto colon = text.find(':');
    const auto name = text.substr(0, colon);
    const bool has_role = colon == std::string_view::npos || role_named(text.substr(colon + 1));
    return has_role && !name.empty() && is_plain_text(name);
}

// "LANG=de_DE.UTF-8" or "SSH_AUTH_SOCK". What Perdure itself gives to a job is not among them, and
// a comma would end the value where lists are written on one line.
bool is_variable(std::string_view text) {
    const auto name = text.substr(0, text.find('='));
    const auto is_letter = [](char c) {
        return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), fits) && !name.starts_with("PERDURE_") &&
           text.find(',') == std::string_view::npos && is_plain_text(text);
}

bool fits(const Setting& setting, const std::string& text) {
    switch (setting.type) {
        case SettingType::choice: return is_choice(setting.choices, text);
        case SettingType::address: return parse_host_port(text).has_value();
        case SettingType::text:  // empty if that is its default
            return (!text.empty() || setting.standard.empty()) && text.size() <= 255 &&
                   is_plain_text(text);
        case SettingType::path: return is_plain_text(text);
        default: return false;
    }
}

bool fits(const Setting& setting, const std::vector<std::string>& words) {
    switch (setting.type) {
        case SettingType::urls:
            return !words.empty() && std::all_of(words.begin(), words.end(), [](const auto& url) {
                return is_socket_url(url) || parse_server_url(url).has_value();
            });
        case SettingType::names: return std::all_of(words.begin(), words.end(), is_name);
        case SettingType::words: return std::all_of(words.begin(), words.end(), is_plain_text);
        case SettingType::variables: return std::all_of(words.begin(), words.end(), is_variable);
        case SettingType::accounts: return std::all_of(words.begin(), words.end(), is_account);
        case SettingType::networks:
            return std::all_of(words.begin(), words.end(),
                               [](const auto& word) { return parse_network(word).has_value(); });
        default: return false;
    }
}

bool fits(const Setting& setting, std::int64_t number) {
    return setting.type == SettingType::count && number >= setting.min && number <= setting.max;
}

bool fits(const Setting& setting, Duration duration) {
    return setting.type == SettingType::duration && duration.us >= setting.min &&
           duration.us <= setting.max;
}

bool is_list(SettingType type) {
    return type == SettingType::urls || type == SettingType::names || type == SettingType::words ||
           type == SettingType::networks || type == SettingType::accounts ||
           type == SettingType::variables;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

// HOST:PORT is what people have at hand.
void complete_urls(const Setting& setting, std::vector<std::string>& words) {
    if (setting.type != SettingType::urls) return;
    for (auto& word : words)
        if (!is_socket_url(word) && parse_host_port(word)) word = "http://" + word;
}

}  // namespace

Result<Value> check_value(const Setting& setting, Value value) {
    // A file writes durations and single words of a list as strings.
    if (const auto* given = std::get_if<std::string>(&value)) {
        if (setting.type == SettingType::duration || is_list(setting.type))
            return read_value(setting, *given);
    }
    if (auto* words = std::get_if<std::vector<std::string>>(&value)) complete_urls(setting, *words);
    const bool good = std::visit([&](const auto& v) { return fits(setting, v); }, value);
    if (!good) return refused(setting, value_text(value));
    return value;
}

Result<Value> read_value(const Setting& setting, std::string_view text) {
    if (is_list(setting.type)) {
        auto words = split_list(text);
        complete_urls(setting, words);
        if (!fits(setting, words)) return refused(setting, text);
        return Value(std::move(words));
    }
    if (setting.type == SettingType::count) {
        const auto number = whole_number(text);
        if (!number || !fits(setting, *number)) return refused(setting, text);
        return Value(*number);
    }
    if (setting.type == SettingType::duration) {
        const auto duration = duration_value(text);
        if (!duration || !fits(setting, *duration)) return refused(setting, text);
        return Value(*duration);
    }
    std::string given(text);
    if (!fits(setting, given)) return refused(setting, text);
    return Value(std::move(given));
}

std::string wanted(const Setting& setting) {
    switch (setting.type) {
        case SettingType::text: return "a text of 1 to 255 bytes";
        case SettingType::choice: {
            std::string choices(setting.choices);
            for (auto bar = choices.find('|'); bar != std::string::npos; bar = choices.find('|'))
                choices.replace(bar, 1, ", ");
            return "one of " + choices;
        }
        case SettingType::path: return "a path";
        case SettingType::count:
            return fmt::format("a number from {} to {}", setting.min, setting.max);
        case SettingType::duration:
            return fmt::format("a duration from {} to {}, like 90s or 1h30m",
                               duration_text({setting.min}), duration_text({setting.max}));
        case SettingType::address: return "HOST:PORT, like 127.0.0.1:7373";
        case SettingType::urls: return "URLs like http://127.0.0.1:7373, HOST:PORT, or unix:PATH";
        case SettingType::names:
            return "names of 1 to 64 of a-z 0-9 . _ - that begin with a letter or digit";
        case SettingType::words: return "words";
        case SettingType::accounts:
            return "accounts like alice or alice:viewer, with a role of viewer, submitter, "
                   "operator, "
                   "worker or admin";
        case SettingType::variables:
            return "variables like LANG=de_DE.UTF-8, or a name alone for the worker's own value; "
                   "without commas, none that begins with PERDURE_";
        case SettingType::networks: return "networks like 10.0.0.0/8 or fd00::/8";
    }
    return "something else";
}

std::string_view nearest_setting(std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& setting : settings()) known.push_back(setting.name);
    return nearest(name, known);
}

}  // namespace perdure
