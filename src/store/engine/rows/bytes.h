// Bytes: numbers and texts in a compact binary form, for blobs in hot rows. Reading checks
// everything: bytes that cannot be understood are a Failure `corrupt`, never a crash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "store/engine/failure.h"

namespace perdure::store {

class ByteWriter {
public:
    ByteWriter() { out_.reserve(usual); }

    void number(std::uint64_t value) {
        if (value < 0x80) return out_.push_back(static_cast<char>(value));
        char bytes[10];
        std::size_t size = 0;
        while (value >= 0x80) {
            bytes[size++] = static_cast<char>(value | 0x80);
            value >>= 7;
        }
        bytes[size++] = static_cast<char>(value);
        out_.append(bytes, size);
    }
    // Small ones of either sign are short.
    void integer(std::int64_t value) {
        const auto bits = static_cast<std::uint64_t>(value);
        number((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    }
    void text(std::string_view text) {
        number(text.size());
        out_.append(text);
    }
    template <class Enum>
    void choice(Enum value) {
        number(static_cast<std::uint64_t>(value));
    }
    template <class Clock>
    void at(Instant<Clock> at) {
        integer(at.us);
    }
    std::string take() { return std::move(out_); }

private:
    static constexpr std::size_t usual = 200;
    std::string out_;
};

class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(next());
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        fail_corrupt("a stored number has no end");
    }
    std::int64_t integer() {
        const auto bits = number();
        return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
    }
    std::uint32_t small() {
        const auto value = number();
        if (value > UINT32_MAX) fail_corrupt("a stored number is too large");
        return static_cast<std::uint32_t>(value);
    }
    std::string_view text() {
        const auto size = number();
        if (size > rest_.size()) fail_corrupt("a stored text is cut short");
        const auto found = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(found.size());
        return found;
    }
    // A count of things of at least one byte each.
    std::size_t count() {
        const auto value = number();
        if (value > rest_.size()) fail_corrupt("a stored list is cut short");
        return static_cast<std::size_t>(value);
    }
    template <class Enum>
    Enum choice(Enum last) {
        const auto value = number();
        if (value > static_cast<std::uint64_t>(last)) fail_corrupt("a stored choice is unknown");
        return static_cast<Enum>(value);
    }
    template <class Moment>
    Moment at() {
        return Moment{span()};
    }
    // A time or a distance of times.
    std::int64_t span() {
        const auto value = integer();
        if (value > span_max || value < -span_max) fail_corrupt("a stored time is out of bounds");
        return value;
    }
    std::uint64_t id() {
        const auto value = number();
        if (value > INT64_MAX) fail_corrupt("a stored id is out of bounds");
        return value;
    }
    bool is_at_end() const { return rest_.empty(); }
    void end() const {
        if (!rest_.empty()) fail_corrupt("a stored row has more than is understood");
    }

private:
    static constexpr std::int64_t span_max = std::int64_t{1} << 61;

    char next() {
        if (rest_.empty()) fail_corrupt("a stored row is cut short");
        const char byte = rest_.front();
        rest_.remove_prefix(1);
        return byte;
    }
    std::string_view rest_;
};

}  // namespace perdure::store
