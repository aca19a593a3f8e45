// FieldHash: a number for a row of fields, the same in every release: it is stored and compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace perdure {

class FieldHash {
public:
    void add(std::string_view text) {
        add(text.size());
        for (const char c : text) mix(static_cast<unsigned char>(c));
    }
    // Eight bytes, the lowest first. Zeros only multiply, and most numbers begin with many.
    void add(std::uint64_t number) {
        std::size_t zeros = 8;
        for (; number != 0; number >>= 8U, --zeros) mix(static_cast<unsigned char>(number));
        state_ *= powers[zeros];
    }
    void add(std::optional<Duration> d) { add(d ? static_cast<std::uint64_t>(d->us) : ~0ULL); }
    std::uint64_t value() const { return state_; }

private:
    static constexpr std::uint64_t prime = 0x100000001b3ULL;
    static constexpr auto powers = [] {
        std::array<std::uint64_t, 9> all = {1};
        for (std::size_t i = 1; i < all.size(); ++i) all[i] = all[i - 1] * prime;
        return all;
    }();

    void mix(unsigned char byte) { state_ = (state_ ^ byte) * prime; }
    std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace perdure
