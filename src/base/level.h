// How loud a line of the log is. The names are those of the configuration, the wire and the log.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace perdure {

enum class Level { debug, info, warn, error, critical };
inline constexpr std::array<std::string_view, 5> level_names = {"debug", "info", "warn", "error",
                                                                "critical"};

constexpr std::string_view to_string(Level level) {
    return level_names[static_cast<std::size_t>(level)];
}

}  // namespace perdure
