// Amounts of memory as text: a whole number with a unit B KiB MiB GiB TiB, or K M G T for the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perdure {

// Empty if it is no amount, or does not fit. A plain number is one of bytes.
std::optional<std::uint64_t> size_value(std::string_view text);

// With the largest unit that leaves it whole: 512MiB, 1000B.
std::string size_text(std::uint64_t bytes);

}  // namespace perdure
