// Ids: 63 bits, ordered by time, never reused, and 13 characters of base 32 on every wire.
// Each kind of id is a type of its own without implicit conversion.
//   42 bits milliseconds since 1970 | 9 bits number of the making server | 12 bits sequence
// The server's number is leased from the store together with a high-water mark, so that ids stay
// monotone when the wall clock steps back (rule L3).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

// Also of what is no id, since damage must be named: then it is not 13 characters long.
std::string id_text(std::uint64_t value);
// Empty unless `text` is exactly what id_text() makes of some 63-bit value.
std::optional<std::uint64_t> id_value(std::string_view text);

template <class Tag>
struct Id {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(Id, Id) = default;
    explicit constexpr operator bool() const { return value != 0; }
    std::string text() const { return id_text(value); }
    static std::optional<Id> parse(std::string_view text) {
        const auto value = id_value(text);
        if (!value) return std::nullopt;
        return Id{*value};
    }
};

using JobId = Id<struct JobTag>;
using SessionId = Id<struct SessionTag>;
using ServerId = Id<struct ServerTag>;  // one life of a server process: its incarnation

// Draws the raw values. One per server process; not for concurrent use.
class IdSource {
public:
    static constexpr std::uint32_t server_number_max = (1U << 9) - 1;

    IdSource(std::uint32_t server_number, std::uint64_t high_water);

    std::uint64_t next(WallTime now);
    // The largest value handed out so far; stored with each group of commits.
    std::uint64_t high_water() const { return last_; }

private:
    std::uint64_t server_bits_;
    std::uint64_t last_;
};

// When an id was drawn: to the millisecond, by the clock of the server that drew it. Too late
// while that clock had been set back, because ids never go back.
WallTime time_of_id(std::uint64_t id);

}  // namespace perdure
