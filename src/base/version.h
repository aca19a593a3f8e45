// The version of these programs: one number for all of them.
#pragma once

#include <string_view>

namespace perdure {

inline constexpr std::string_view version = "0.2.0-dev";

}  // namespace perdure
