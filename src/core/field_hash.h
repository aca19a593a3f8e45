// FieldHash: a number for a row of fields, the same in every release: it is stored and compared.
#pragma once

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
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) mix(static_cast<unsigned char>(number >> (8 * i)));
    }
    void add(std::optional<Duration> d) { add(d ? static_cast<std::uint64_t>(d->us) : ~0ULL); }
    std::uint64_t value() const { return state_; }

private:
    void mix(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }
    std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace perdure
