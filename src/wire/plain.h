// Characters that stand for themselves in a JSON string: ASCII without controls, `"` and `\`.
#pragma once

#include <array>
#include <cstddef>

namespace perdure {

inline constexpr auto plain_characters = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}();

inline bool is_plain(char c) { return plain_characters[static_cast<unsigned char>(c)]; }

}  // namespace perdure
