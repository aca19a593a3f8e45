#include "config/toml_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <optional>
#include <sstream>

namespace perdure {
namespace {

struct Reading {
    const std::string& path;
    std::vector<FileEntry> entries;
    std::optional<Error> refused;
};

std::optional<std::vector<std::string>> strings_of(const toml::array& array) {
    std::vector<std::string> words;
    for (const auto& element : array) {
        const auto word = element.value_exact<std::string>();
        if (!word) return std::nullopt;
        words.push_back(*word);
    }
    return words;
}

std::optional<Value> value_of(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return Value(*text);
    if (const auto number = node.value_exact<std::int64_t>()) return Value(*number);
    if (const auto* array = node.as_array()) {
        auto words = strings_of(*array);
        if (words) return Value(std::move(*words));
    }
    return std::nullopt;
}

FileEntry json_entry(const std::string& name, const toml::array& list, std::size_t line) {
    std::ostringstream text;
    text << toml::json_formatter{list};
    FileEntry entry{.name = name, .value = Value(text.str()), .line = line, .is_json = true};
    for (const auto& element : list) entry.element_lines.push_back(element.source().begin.line);
    return entry;
}

void read_table(const toml::table& table, const std::string& prefix, Reading& into) {
    for (const auto& [key, node] : table) {
        const auto name = prefix + std::string(key.str());
        const std::size_t line = key.source().begin.line;
        if (const auto* inner = node.as_table()) {
            read_table(*inner, name + ".", into);
        } else if (const auto flag = node.value_exact<bool>()) {
            into.entries.push_back({.name = name,
                                    .value = std::string(*flag ? "true" : "false"),
                                    .line = line,
                                    .is_flag = true});
        } else if (auto value = value_of(node)) {
            into.entries.push_back({name, std::move(*value), line});
        } else if (const auto* list = node.as_array()) {
            into.entries.push_back(json_entry(name, *list, line));
        } else if (!into.refused) {
            into.refused = error(Errc::invalid,
                                 fmt::format("{}:{}: {} must be a text, a whole number or a list",
                                             into.path, line, name));
        }
    }
}

}  // namespace

Result<std::vector<FileEntry>> read_toml(std::string_view text, const std::string& path) {
    const auto parsed = toml::parse(text, std::string_view(path));
    if (!parsed) {
        const auto& failure = parsed.error();
        return error(Errc::invalid,
                     fmt::format("{}:{}: this is not TOML: {}; correct the line, or give another "
                                 "file with --config",
                                 path, failure.source().begin.line, failure.description()));
    }
    Reading reading{path, {}, std::nullopt};
    read_table(parsed.table(), "", reading);
    if (reading.refused) return *reading.refused;
    return std::move(reading.entries);
}

}  // namespace perdure
