// The table of settings: the one statement of what can be configured. The parser, `perdure config`,
// the flags of commands and docs/cli.md all go by it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "config/value.h"

namespace perdure {

// What defaults depend on. Gathered by main, so that everything here is pure.
struct HostFacts {
    std::string host_name;
    std::uint32_t cpus = 1;
    std::string home;  // empty: unknown
};

enum class SettingType {
    text,
    choice,
    path,
    count,
    duration,
    address,
    urls,
    names,
    words,
    networks,
    accounts,
    variables
};

struct Setting {
    std::string_view name;  // as in perdure.toml: "worker.slots"
    SettingType type = SettingType::text;
    std::string_view standard;    // the default; "(…)" says how it is worked out
    std::string_view production;  // the default in that profile; empty: the same
    std::string_view about;
    std::string_view environment;
    std::string_view flag;     // without value; empty: only by --set
    std::string_view choices;  // "a|b|c", of a choice
    std::int64_t min = 0;      // of a count, or microseconds of a duration
    std::int64_t max = 0;
    void (*store)(Config&, const Value&) = nullptr;

    std::string_view default_for(Profile profile) const {
        return profile == Profile::production && !production.empty() ? production : standard;
    }
};

std::span<const Setting> settings();
// Null: there is no such setting.
const Setting* find_setting(std::string_view name);

// What the text means for this setting; otherwise a sentence without the place.
Result<Value> read_value(const Setting& setting, std::string_view text);
// For values that come as such, from a file.
Result<Value> check_value(const Setting& setting, Value value);
// The names of types, for people: "a duration like 90s or 1h30m".
std::string wanted(const Setting& setting);

// The known name that `name` was probably meant to be; empty: nothing is near.
std::string_view nearest_setting(std::string_view name);

}  // namespace perdure
