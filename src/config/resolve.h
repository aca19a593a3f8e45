// Where a setting comes from: default < perdure.toml < environment < flag. Pure: main gathers the
// sources. Whatever cannot be understood is refused with its place and what to write instead; an
// environment variable that looks like ours and is not is only warned about.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/named_settings.h"
#include "config/settings.h"
#include "config/value.h"

namespace perdure {

struct ConfigFile {
    std::string path;
    std::string text;
};
struct GivenFlag {
    std::string name;  // of the setting
    std::string value;
    std::string flag;  // as it was written, for messages: "--data", "--set"
};
struct ConfigSources {
    std::optional<ConfigFile> file;
    std::map<std::string, std::string> environment;
    std::vector<GivenFlag> flags;
    HostFacts host;
};

struct EffectiveSetting {
    const Setting* setting = nullptr;
    Value value;
    Origin origin;
};
struct Configuration {
    Config config;
    std::vector<EffectiveSetting> effective;  // one for each setting, in the table's order
    std::vector<NamedSetting> named;          // policies, and where they apply
    std::vector<std::string> warnings;
};

Result<Configuration> resolve(const ConfigSources& sources);

// "--set name=value" as a flag.
Result<GivenFlag> parse_set(const std::string& text);

// Flags that give a child process exactly these settings, whatever its file and environment say.
std::vector<std::string> as_flags(const Configuration& configuration);

// Where a configuration file is looked for if none is named, best first.
std::vector<std::string> file_candidates(const std::map<std::string, std::string>& environment);

}  // namespace perdure
