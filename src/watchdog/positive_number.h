// Numbers in variables of the environment.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

namespace perdure {

// The whole text is one, and it is above zero. `text` may be null.
inline std::optional<std::int64_t> positive_number(const char* text) {
    if (!text) return std::nullopt;
    std::int64_t number = 0;
    const auto* end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, number);
    if (read.ec != std::errc() || read.ptr != end || number <= 0) return std::nullopt;
    return number;
}

}  // namespace perdure
