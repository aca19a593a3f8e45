#include "config/example_file.h"

#include <fmt/format.h>

#include "config/settings.h"

namespace perdure {
namespace {

constexpr std::string_view head =
    "# Settings of Perdure. Each stands here with its default, behind a `#`: take that away to\n"
    "# change one. The environment and flags win over this file; `perdure config` shows what is "
    "in\n"
    "# force and where it came from. A setting that does not exist is refused with its line.\n";

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

// Where the default is worked out on each machine: something that could stand there.
std::string sample(const Setting& setting) {
    switch (setting.type) {
        case SettingType::count: return "4";
        case SettingType::path: return quoted("/var/lib/perdure/" + std::string(setting.name));
        case SettingType::urls: return "[\"http://127.0.0.1:7373\"]";
        default: return quoted("anvil");
    }
}

std::string list_text(std::string_view text) {
    std::string made;
    for (const auto& word : split_list(text)) made += (made.empty() ? "" : ", ") + quoted(word);
    return "[" + made + "]";
}

std::string default_text(const Setting& setting) {
    switch (setting.type) {
        case SettingType::count: return std::string(setting.standard);
        case SettingType::urls:
        case SettingType::names:
        case SettingType::words:
        case SettingType::accounts:
        case SettingType::variables:
        case SettingType::networks: return list_text(setting.standard);
        default: return quoted(setting.standard);
    }
}

std::string entry(const Setting& setting) {
    auto text = fmt::format("\n# {}\n", setting.about);
    if (!setting.choices.empty()) text += fmt::format("# one of {}\n", setting.choices);
    if (!setting.production.empty())
        text += fmt::format("# in production: {}\n", quoted(setting.production));
    const bool worked_out = setting.standard.starts_with("(");
    if (worked_out)
        text += fmt::format("# default: {}; for example:\n",
                            setting.standard.substr(1, setting.standard.size() - 2));
    return text + fmt::format("#{} = {}\n", setting.name,
                              worked_out ? sample(setting) : default_text(setting));
}

}  // namespace

std::string example_file() {
    std::string text(head);
    for (const auto& setting : settings()) text += entry(setting);
    return text;
}

}  // namespace perdure
