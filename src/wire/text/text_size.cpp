#include "wire/text/text_size.h"

#include <array>
#include <charconv>

namespace perdure {
namespace {

struct Unit {
    std::string_view name;
    std::string_view brief;
    unsigned shift = 0;
};
constexpr std::array units = {Unit{"TiB", "T", 40}, Unit{"GiB", "G", 30}, Unit{"MiB", "M", 20},
                              Unit{"KiB", "K", 10}, Unit{"B", "", 0}};

}  // namespace

std::optional<std::uint64_t> size_value(std::string_view text) {
    std::uint64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{}) return std::nullopt;
    const std::string_view rest(read.ptr, static_cast<std::size_t>(end - read.ptr));
    for (const auto& unit : units) {
        if (rest != unit.name && rest != unit.brief) continue;
        if (number > (UINT64_MAX >> unit.shift)) return std::nullopt;
        return number << unit.shift;
    }
    return std::nullopt;
}

std::string size_text(std::uint64_t bytes) {
    for (const auto& unit : units) {
        const auto whole = std::uint64_t{1} << unit.shift;
        if (bytes >= whole && bytes % whole == 0)
            return std::to_string(bytes >> unit.shift) + std::string(unit.name);
    }
    return "0B";
}

}  // namespace perdure
