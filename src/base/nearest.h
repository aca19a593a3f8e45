// "Did you mean": the known word with the fewest letters to change.
#pragma once

#include <span>
#include <string_view>

namespace perdure {

// Empty if nothing is near: a wild guess helps nobody.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace perdure
