#include "base/id.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace perdure {
namespace {

// Crockford's alphabet: no i, l, o, u, so that an id can be read out loud; it sorts like the value.
constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::uint8_t no_digit = 0xFF;
constexpr std::size_t text_length = 13;
constexpr unsigned sequence_bits = 12;
constexpr unsigned server_bits = 9;
constexpr std::uint64_t id_max = (std::uint64_t{1} << 63) - 1;

constexpr auto digits = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    return values;
}();

std::uint64_t millisecond_of(std::uint64_t id) { return id >> (sequence_bits + server_bits); }

}  // namespace

WallTime time_of_id(std::uint64_t id) {
    return WallTime{} + milliseconds(static_cast<std::int64_t>(millisecond_of(id)));
}

std::string id_text(std::uint64_t value) {
    if (value > id_max) return "bad-id:" + std::to_string(static_cast<std::int64_t>(value));
    std::string text(text_length, '0');
    for (std::size_t i = text_length; i-- > 0; value >>= 5) text[i] = alphabet[value & 31U];
    return text;
}

std::optional<std::uint64_t> id_value(std::string_view text) {
    if (text.size() != text_length) return std::nullopt;
    if (text[0] > '7') return std::nullopt;  // 13 * 5 bits are 65: the first has three of them
    std::uint64_t value = 0;
    for (const char c : text) {
        const auto digit = digits[static_cast<unsigned char>(c)];
        if (digit == no_digit) return std::nullopt;
        value = value << 5 | digit;
    }
    return value;
}

IdSource::IdSource(std::uint32_t server_number, std::uint64_t high_water)
    : server_bits_(std::uint64_t{server_number} << sequence_bits), last_(high_water) {
    PERDURE_ASSERT(server_number <= server_number_max);
}

std::uint64_t IdSource::next(WallTime now) {
    const auto clock_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(now.us, 0)) / 1'000;
    const auto last_ms = millisecond_of(last_);
    const auto sequence_mask = (std::uint64_t{1} << sequence_bits) - 1;
    std::uint64_t ms = std::max(clock_ms, last_ms);
    std::uint64_t sequence = 0;
    if (ms == last_ms) {
        sequence = (last_ & sequence_mask) + 1;
        if (sequence > sequence_mask) {
            ++ms;  // Borrow from the future rather than wait: uniqueness first.
            sequence = 0;
        }
    }
    const auto made = [&] { return ms << (sequence_bits + server_bits) | server_bits_ | sequence; };
    auto id = made();
    if (id <= last_) {
        // The mark was drawn under a higher number than ours: only the next millisecond is above.
        ++ms;
        sequence = 0;
        id = made();
    }
    PERDURE_ASSERT(id > last_ && id <= id_max);
    last_ = id;
    return id;
}

}  // namespace perdure
