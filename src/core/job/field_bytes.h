// FieldBytes: a row of fields as bytes, the same in every release: hashes of them are stored and
// compared. Numbers have eight bytes, the lowest first; texts have their size first. So no two rows
// of the same kinds of fields have the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

class FieldBytes {
public:
    explicit FieldBytes(std::size_t expected = 0) { bytes_.reserve(expected); }

    void add(std::string_view text) {
        add(text.size());
        bytes_ += text;
    }
    void add(std::uint64_t number) {
        char eight[8];
        for (auto& byte : eight) {
            byte = static_cast<char>(number & 0xFFU);
            number >>= 8U;
        }
        bytes_.append(eight, sizeof eight);
    }
    void add(std::optional<Duration> d) { add(d ? static_cast<std::uint64_t>(d->us) : ~0ULL); }
    std::string_view view() const { return bytes_; }

private:
    std::string bytes_;
};

// FNV-1a, 64 bits: enough to tell the few policies of a worker apart, not to identify a body.
constexpr std::uint64_t fnv_hash(std::string_view bytes) {
    std::uint64_t state = 0xcbf29ce484222325ULL;
    for (const char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return state;
}

}  // namespace perdure
