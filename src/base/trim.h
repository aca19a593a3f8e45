// Text without the spaces, tabs and carriage returns at its ends.
#pragma once

#include <string_view>

namespace perdure {

constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto from = text.find_first_not_of(blanks);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}
static_assert(trimmed(" \ta b\r") == "a b");
static_assert(trimmed(" \t").empty() && trimmed("").empty());

}  // namespace perdure
