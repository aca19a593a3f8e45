#include "core/job/secret.h"

#include <algorithm>
#include <array>

#include "base/words.h"
#include "core/job/submit.h"

namespace perdure {
namespace {

// Anywhere in a name.
constexpr std::array<std::string_view, 6> telling_parts = {"PASSWORD", "PASSWD", "PASSPHRASE",
                                                           "SECRET",   "TOKEN",  "CREDENTIAL"};
// As a whole word of a name, or at its end: APIKEY, but not KEYBOARD.
constexpr std::array<std::string_view, 2> telling_endings = {"KEY", "KEYS"};
constexpr std::array<std::string_view, 4> telling_words = {"PASS", "PWD", "AUTH", "PIN"};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool is_between_words(char c) { return c == '_' || c == '-' || c == '.'; }

bool has_telling_word(std::string_view name) {
    while (!name.empty()) {
        const auto end = std::find_if(name.begin(), name.end(), is_between_words);
        const std::string_view word = name.substr(0, static_cast<std::size_t>(end - name.begin()));
        for (const auto telling : telling_words)
            if (word == telling) return true;
        for (const auto telling : telling_endings)
            if (word.ends_with(telling)) return true;
        name.remove_prefix(std::min(word.size() + 1, name.size()));
    }
    return false;
}

bool is_telling(std::string_view name) {
    // PWD alone is the working directory, as every shell has it.
    if (name == "PWD" || name == "OLDPWD") return false;
    std::string upper_case(name);
    std::transform(name.begin(), name.end(), upper_case.begin(), upper);
    for (const auto part : telling_parts)
        if (upper_case.find(part) != std::string::npos) return true;
    return has_telling_word(upper_case);
}

// scheme://user:password@host
bool has_password_in_url(std::string_view value) {
    for (auto at = value.find("://"); at != std::string_view::npos; at = value.find("://", at)) {
        at += 3;
        const auto authority = value.substr(at, value.find_first_of("/?# ", at) - at);
        const auto sign = authority.rfind('@');
        if (sign == std::string_view::npos) continue;
        const auto colon = authority.find(':');
        if (colon < sign && colon + 1 < sign) return true;
    }
    return false;
}

// False: it is not understood.
bool take_word(std::string_view word, SecretRule& rule) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const auto what = word.substr(0, equals);
    const auto name = word.substr(equals + 1);
    auto* into = what == "tenant"  ? &rule.tenant
                 : what == "queue" ? &rule.queue
                 : what == "kind"  ? &rule.kind
                                   : nullptr;
    const bool is_command = what == "kind" && name.empty();
    if (!into || into->has_value() || (!is_command && !is_name(name))) return false;
    *into = std::string(name);
    return true;
}

bool take_line(std::string_view text, SecretRule& rule) {
    if (text == "all") return true;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \t"), text.size());
        if (!take_word(text.substr(0, end), rule)) return false;
        text = trimmed(text.substr(end));
    }
    return true;
}

bool fits(const std::optional<std::string>& wanted, const std::string& found) {
    return !wanted || *wanted == found;
}

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
    return is_telling(name) || has_password_in_url(value);
}

bool is_secret_reference(std::string_view value) { return value.starts_with(secret_scheme); }

std::optional<std::string_view> secret_key_in(std::string_view value) {
    if (!is_secret_reference(value)) return std::nullopt;
    const auto key = value.substr(secret_scheme.size());
    if (!is_name(key) || key.ends_with(secret_list_suffix)) return std::nullopt;
    return key;
}

std::string_view shown_value(std::string_view name, std::string_view value) {
    if (value.empty() || secret_key_in(value)) return value;
    return looks_secret(name, value) ? masked_value : value;
}

Result<std::vector<SecretRule>> parse_secret_rules(std::string_view text) {
    std::vector<SecretRule> rules;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto said = trimmed(line.substr(0, line.find('#')));
        if (said.empty()) continue;
        SecretRule rule{.line = number};
        if (!take_line(said, rule))
            return error(Errc::invalid,
                         "line " + std::to_string(number) +
                             " must be `all`, or of `tenant=NAME`, `queue=NAME` and `kind=NAME`, "
                             "each once");
        rules.push_back(std::move(rule));
    }
    return rules;
}

SecretUse decide_secret_use(const JobSpec& job, const std::vector<SecretRule>& rules) {
    for (const auto& rule : rules)
        if (fits(rule.tenant, job.tenant) && fits(rule.queue, job.queue) &&
            fits(rule.kind, job.kind))
            return {.allowed = true, .line = rule.line};
    return {};
}

}  // namespace perdure
