// Args: the words and options of one command, after parsing. Which ones there can be is said by the
// command's own description, so asking for another one is a bug.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::cli {

class Args {
public:
    std::map<std::string, std::vector<std::string>, std::less<>> values;
    std::vector<std::string> rest;  // what stands after `--`

    bool flag(std::string_view name) const { return values.contains(name); }
    const std::vector<std::string>& all(std::string_view name) const {
        static const std::vector<std::string> none;
        const auto found = values.find(name);
        return found == values.end() ? none : found->second;
    }
    // The last one counts.
    std::optional<std::string> one(std::string_view name) const {
        const auto& given = all(name);
        if (given.empty()) return std::nullopt;
        return given.back();
    }
    std::string text(std::string_view name) const { return one(name).value_or(""); }
};

}  // namespace perdure::cli
