// Characters that stand for themselves in a JSON string: ASCII without controls, `"` and `\`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace perdure {

inline constexpr auto plain_characters = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}();

inline bool is_plain(char c) { return plain_characters[static_cast<unsigned char>(c)]; }

// Eight at a time. A byte that is not plain is always noticed; one that is plain may be taken for
// one that is not, if it lies behind such a one.
inline bool are_plain(const char* eight) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t tops = ones << 7U;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, eight, sizeof bytes);
    const auto quotes = bytes ^ ones * '"';
    const auto slashes = bytes ^ ones * '\\';
    const auto other = (bytes - ones * 0x20) | (quotes - ones) | (slashes - ones) | bytes;
    return (other & tops) == 0;
}

// The first that is not plain; `end` if all are. Most texts are short: they are done before blocks
// of eight are worth their beginning.
inline const char* skip_plain(const char* at, const char* end) {
    constexpr std::ptrdiff_t few = 16;
    const auto* soon = end - at > few ? at + few : end;
    while (at != soon && is_plain(*at)) ++at;
    if (at != soon) return at;
    while (end - at >= 8 && are_plain(at)) at += 8;
    while (at != end && is_plain(*at)) ++at;
    return at;
}

}  // namespace perdure
