#include "cli/human.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace perdure::cli {
namespace {

struct Unit {
    Duration size;
    std::string_view name;
};
constexpr std::array units = {Unit{days(1), "d"}, Unit{hours(1), "h"}, Unit{minutes(1), "min"},
                              Unit{seconds(1), "s"}};

std::string largest_unit(Duration duration) {
    for (const auto& unit : units)
        if (duration >= unit.size)
            return fmt::format("{} {}", duration.us / unit.size.us, unit.name);
    return "0 s";
}

}  // namespace

std::string relative(WallTime then, WallTime now) {
    const auto past = now - then;
    const bool ahead = past < Duration{};
    const auto distance = ahead ? then - now : past;
    if (distance < seconds(1)) return ahead ? "now" : "just now";
    return ahead ? "in " + largest_unit(distance) : largest_unit(distance) + " ago";
}

std::string spoken(Duration duration) {
    if (duration < seconds(1)) return fmt::format("{} ms", duration.us / 1000);
    if (duration < seconds(10)) return fmt::format("{:.1f} s", duration.seconds());
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (duration < units[i].size) continue;
        const auto text = fmt::format("{} {}", duration.us / units[i].size.us, units[i].name);
        const Duration rest{duration.us % units[i].size.us};
        if (i + 1 == units.size() || rest < units[i + 1].size) return text;
        return fmt::format("{} {} {}", text, rest.us / units[i + 1].size.us, units[i + 1].name);
    }
    return "0 s";
}

std::string spoken_size(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    auto size = static_cast<double>(bytes);
    std::string_view unit;
    for (const std::string_view name : {"KiB", "MiB", "GiB", "TiB"}) {
        if (size < 1024) break;
        size /= 1024;
        unit = name;
    }
    return fmt::format("{:.1f} {}", size, unit);
}

}  // namespace perdure::cli
