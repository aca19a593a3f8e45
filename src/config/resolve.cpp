#include "config/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/words.h"
#include "config/check.h"
#include "config/toml_file.h"

namespace perdure {
namespace {

// Set for jobs by their shim, by a watchdog for its child, or by the user for the command line as
// such; not settings.
constexpr std::array other_variables = {
    std::string_view("PERDURE_CONFIG"),     std::string_view("PERDURE_JOB"),
    std::string_view("PERDURE_EPOCH"),      std::string_view("PERDURE_SOCKET"),
    std::string_view("PERDURE_RESULT"),     std::string_view("PERDURE_ATTEMPT"),
    std::string_view("PERDURE_WATCHDOG"),   std::string_view("PERDURE_DIED_AT"),
    std::string_view("PERDURE_ALIVE_EVERY")};

struct Chosen {
    Value value;
    Origin origin;
};
struct Choices {
    std::map<std::string_view, Chosen> settings;
    NamedSettings named;
};

Error at(const std::string& place, const Error& what) {
    return error(what.code, place + ": " + what.what);
}

Error unknown(const std::string& place, std::string_view name) {
    const auto meant = nearest_setting(name);
    const auto hint = meant.empty() ? std::string("`perdure config` lists all settings")
                                    : fmt::format("did you mean {}?", meant);
    return error(Errc::invalid, fmt::format("{}: there is no setting {}; {}", place, name, hint));
}

Result<void> choose_from_file(const ConfigFile& file, Choices& chosen) {
    auto entries = read_toml(file.text, file.path);
    if (!entries) return entries.error();
    // The table is sorted by key; the first wrong line is what a person wants to read first.
    std::stable_sort(entries->begin(), entries->end(),
                     [](const auto& a, const auto& b) { return a.line < b.line; });
    for (auto& entry : *entries) {
        if (NamedSettings::owns(entry.name)) {
            if (auto taken = chosen.named.take(entry, file.path); !taken) return taken.error();
            continue;
        }
        const auto place = fmt::format("{}:{}", file.path, entry.line);
        const auto* setting = find_setting(entry.name);
        if (!setting) return unknown(place, entry.name);
        if (entry.is_json)
            return error(Errc::invalid,
                         fmt::format("{}: {} must be {}", place, entry.name, wanted(*setting)));
        if (entry.is_flag && setting->type != SettingType::choice)
            return error(Errc::invalid, fmt::format("{}: {} must be {}, not {}", place, entry.name,
                                                    wanted(*setting), value_text(entry.value)));
        auto value = check_value(*setting, std::move(entry.value));
        if (!value) return at(place, value.error());
        chosen.settings[setting->name] = {std::move(*value), {Origin::Kind::file, place}};
    }
    return {};
}

Result<void> choose_from_environment(const ConfigSources& sources, Choices& chosen) {
    for (const auto& setting : settings()) {
        const auto found = sources.environment.find(std::string(setting.environment));
        if (found == sources.environment.end()) continue;
        auto value = read_value(setting, found->second);
        if (!value) return at(found->first, value.error());
        chosen.settings[setting.name] = {std::move(*value),
                                         {Origin::Kind::environment, found->first}};
    }
    return {};
}

Result<void> choose_from_flags(const ConfigSources& sources, Choices& chosen) {
    for (const auto& given : sources.flags) {
        if (NamedSettings::owns(given.name)) {
            auto taken = chosen.named.take_flag(given.name, given.value, given.flag);
            if (!taken) return taken.error();
            continue;
        }
        const auto* setting = find_setting(given.name);
        if (!setting) return unknown(given.flag, given.name);
        auto value = read_value(*setting, given.value);
        if (!value) return at(given.flag, value.error());
        chosen.settings[setting->name] = {std::move(*value), {Origin::Kind::flag, given.flag}};
    }
    return {};
}

// Before TCP, the socket of the server that has our data directory. A comma would end its path in a
// list.
std::string usual_urls(const std::string& data) {
    constexpr std::string_view on_this_host = "http://127.0.0.1:7373";
    if (data.find(',') != std::string::npos) return std::string(on_this_host);
    return fmt::format("unix:{}/api,{}", data, on_this_host);
}

std::string standard_text(const Setting& setting, const ConfigSources& sources,
                          const Configuration& so_far) {
    if (setting.name == "worker.name") return sources.host.host_name;
    if (setting.name == "worker.slots") return fmt::format("{}", sources.host.cpus);
    if (setting.name == "server.urls") return usual_urls(so_far.config.data);
    if (setting.name == "worker.state") return so_far.config.data + "/worker";
    if (setting.name == "worker.secrets") return so_far.config.data + "/job-secrets";
    if (setting.name == "webhooks.secrets") return so_far.config.data + "/secrets";
    return std::string(setting.default_for(so_far.config.profile));
}

// "~/x" is a wish about the home directory that no shell has seen.
Result<Value> with_home(const Setting& setting, Value value, const std::string& home) {
    auto* path = std::get_if<std::string>(&value);
    if (setting.type != SettingType::path || !path || !path->starts_with("~/")) return value;
    if (home.empty())
        return error(Errc::invalid, fmt::format("{} is {}, and HOME is not set; set HOME, or give "
                                                "a full path",
                                                setting.name, *path));
    return Value(home + path->substr(1));
}

Result<void> choose_setting(const Setting& setting, const ConfigSources& sources,
                            const Choices& chosen, Configuration& into) {
    const auto found = chosen.settings.find(setting.name);
    EffectiveSetting effective{&setting, {}, {}};
    if (found != chosen.settings.end()) {
        effective.value = found->second.value;
        effective.origin = found->second.origin;
    } else if (auto standard = read_value(setting, standard_text(setting, sources, into))) {
        effective.value = std::move(*standard);
    } else {
        return standard.error();
    }
    auto expanded = with_home(setting, std::move(effective.value), sources.host.home);
    if (!expanded) return expanded.error();
    effective.value = std::move(*expanded);
    setting.store(into.config, effective.value);
    into.effective.push_back(std::move(effective));
    return {};
}

Result<void> choose_policies(const Choices& chosen, Configuration& into) {
    const auto found = chosen.settings.find("policy");
    const auto place = found == chosen.settings.end() ? "policy" : found->second.origin.place;
    auto chosen_names = chosen.named.choose(into.config.policy, place);
    if (!chosen_names) return chosen_names.error();
    into.config.policies = std::move(chosen_names->book);
    into.config.weights = std::move(chosen_names->weights);
    into.named = std::move(chosen_names->shown);
    return {};
}

void warn_about_unknown_variables(const ConfigSources& sources, Configuration& into) {
    std::vector<std::string_view> known(other_variables.begin(), other_variables.end());
    for (const auto& setting : settings()) known.push_back(setting.environment);
    for (const auto& [name, value] : sources.environment) {
        if (!name.starts_with("PERDURE_")) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const auto meant = nearest(name, known);
        into.warnings.push_back(
            fmt::format("{} is set and means nothing{}", name,
                        meant.empty() ? std::string() : fmt::format("; did you mean {}?", meant)));
    }
}

}  // namespace

std::string_view to_string(Origin::Kind kind) {
    switch (kind) {
        case Origin::Kind::standard: return "default";
        case Origin::Kind::file: return "file";
        case Origin::Kind::environment: return "environment";
        case Origin::Kind::flag: return "flag";
    }
    return "default";
}

Result<Configuration> resolve(const ConfigSources& sources) {
    Choices chosen;
    if (sources.file) {
        if (auto read = choose_from_file(*sources.file, chosen); !read) return read.error();
    }
    if (auto read = choose_from_environment(sources, chosen); !read) return read.error();
    if (auto read = choose_from_flags(sources, chosen); !read) return read.error();

    Configuration configuration;
    // The table's order counts: defaults look at what stands before them.
    for (const auto& setting : settings()) {
        auto chosen_names = choose_setting(setting, sources, chosen, configuration);
        if (!chosen_names) return chosen_names.error();
    }
    if (auto chosen_names = choose_policies(chosen, configuration); !chosen_names)
        return chosen_names.error();
    warn_about_unknown_variables(sources, configuration);
    if (auto refused = check_together(configuration)) return *refused;
    return configuration;
}

Result<GivenFlag> parse_set(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return error(Errc::invalid, fmt::format("--set wants NAME=VALUE, like "
                                                "--set timing.lease=20s, not \"{}\"",
                                                text));
    return GivenFlag{text.substr(0, equals), text.substr(equals + 1), "--set"};
}

std::vector<std::string> as_flags(const Configuration& configuration) {
    std::vector<std::string> flags;
    for (const auto& effective : configuration.effective) {
        flags.push_back("--set");
        flags.push_back(fmt::format("{}={}", effective.setting->name, value_text(effective.value)));
    }
    for (const auto& named : configuration.named) {
        flags.push_back("--set");
        flags.push_back(fmt::format("{}={}", named.name, named.value));
    }
    return flags;
}

std::vector<std::string> file_candidates(const std::map<std::string, std::string>& environment) {
    std::vector<std::string> candidates = {"perdure.toml"};
    const auto variable = [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    if (const auto xdg = variable("XDG_CONFIG_HOME"); !xdg.empty())
        candidates.push_back(xdg + "/perdure/perdure.toml");
    else if (const auto home = variable("HOME"); !home.empty())
        candidates.push_back(home + "/.config/perdure/perdure.toml");
    candidates.push_back("/etc/perdure/perdure.toml");
    return candidates;
}

}  // namespace perdure
