// Values as PostgreSQL's binary protocol has them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace perdure::store::postgres {

inline std::array<char, 8> big_endian(std::int64_t number) {
    std::array<char, 8> bytes{};
    auto rest = static_cast<std::uint64_t>(number);
    for (std::size_t i = bytes.size(); i-- > 0; rest >>= 8) bytes[i] = static_cast<char>(rest);
    return bytes;
}

inline void put_int4(std::string& out, std::int32_t number) {
    const auto bits = static_cast<std::uint32_t>(number);
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(bits >> shift);
}

}  // namespace perdure::store::postgres
