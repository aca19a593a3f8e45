// Help with words that people write.
#pragma once

#include <span>
#include <string_view>

namespace perdure {

// "Did you mean": the known word with the fewest letters to change. Empty if none is near: a wild
// guess does not help.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// Without the spaces, tabs and carriage returns at its ends.
constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto from = text.find_first_not_of(blanks);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}
static_assert(trimmed(" \ta b\r") == "a b");
static_assert(trimmed(" \t").empty() && trimmed("").empty());

}  // namespace perdure
