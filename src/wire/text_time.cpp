#include "wire/text_time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

namespace perdure {
namespace {

namespace chrono = std::chrono;

constexpr std::int64_t us_per_day = days(1).us;
constexpr std::int64_t year_10000_us = 253402300800 * 1'000'000;

struct Unit {
    std::string_view name;
    std::int64_t us;
};
constexpr std::array units = {Unit{"d", days(1).us},          Unit{"h", hours(1).us},
                              Unit{"m", minutes(1).us},       Unit{"s", seconds(1).us},
                              Unit{"ms", milliseconds(1).us}, Unit{"us", 1}};

// Reads fixed forms from the left. After the first misfit nothing fits any more.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    int digits(std::size_t count) {
        int number = 0;
        if (rest_.size() < count) return fail();
        for (std::size_t i = 0; i < count; ++i) {
            if (rest_[i] < '0' || rest_[i] > '9') return fail();
            number = number * 10 + (rest_[i] - '0');
        }
        rest_.remove_prefix(count);
        return number;
    }
    char one_of(std::string_view chars) {
        if (rest_.empty() || chars.find(rest_.front()) == std::string_view::npos) {
            fail();
            return 0;
        }
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return c;
    }
    bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
    std::int64_t fraction() {
        std::int64_t us = 0;
        std::size_t count = 0;
        for (; count < 6 && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; ++count)
            us = us * 10 + digits(1);
        if (count == 0) fail();
        for (; count < 6; ++count) us *= 10;
        return us;
    }
    bool complete() const { return fits_ && rest_.empty(); }

private:
    int fail() {
        fits_ = false;
        rest_ = {};
        return 0;
    }
    std::string_view rest_;
    bool fits_ = true;
};

struct ClockFields {
    int hour = 0;
    int minute = 0;
    int second = 0;
    bool is_real() const { return hour < 24 && minute < 60 && second < 60; }
    std::int64_t us() const { return seconds(hour * 3600 + minute * 60 + second).us; }
};

chrono::year_month_day scan_date(Scanner& scan) {
    const int year = scan.digits(4);
    scan.one_of("-");
    const int month = scan.digits(2);
    scan.one_of("-");
    const int day = scan.digits(2);
    return chrono::year(year) / chrono::month(static_cast<unsigned>(month)) /
           chrono::day(static_cast<unsigned>(day));
}

std::int64_t scan_offset(Scanner& scan) {
    const char sign = scan.one_of("Zz+-");
    if (sign != '+' && sign != '-') return 0;
    ClockFields offset;
    offset.hour = scan.digits(2);
    scan.one_of(":");
    offset.minute = scan.digits(2);
    if (!offset.is_real()) scan.one_of("");
    return sign == '+' ? offset.us() : -offset.us();
}

}  // namespace

std::string time_text(WallTime time) {
    const auto day = time.us >= 0 ? time.us / us_per_day : (time.us - us_per_day + 1) / us_per_day;
    const auto rest = time.us - day * us_per_day;
    const chrono::year_month_day date{chrono::sys_days{chrono::days{day}}};
    const auto second = rest / 1'000'000;
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       second / 3600, second / 60 % 60, second % 60, rest % 1'000'000);
}

std::optional<WallTime> time_value(std::string_view text) {
    Scanner scan(text);
    const auto date = scan_date(scan);
    scan.one_of("Tt ");
    ClockFields clock;
    clock.hour = scan.digits(2);
    scan.one_of(":");
    clock.minute = scan.digits(2);
    scan.one_of(":");
    clock.second = scan.digits(2);
    std::int64_t us = 0;
    if (scan.next_is('.')) {
        scan.one_of(".");
        us = scan.fraction();
    }
    const auto offset = scan_offset(scan);
    if (!scan.complete() || !date.ok() || !clock.is_real()) return std::nullopt;
    const std::int64_t day = chrono::sys_days(date).time_since_epoch().count();
    const WallTime time{day * us_per_day + clock.us() + us - offset};
    if (time.us < 0 || time.us >= year_10000_us) return std::nullopt;
    return time;
}

std::string duration_text(Duration duration) {
    if (duration.us == 0) return "0s";
    std::string text = duration.us < 0 ? "-" : "";
    // The magnitude also of the smallest number, which has no positive counterpart.
    auto rest = duration.us < 0 ? 0 - static_cast<std::uint64_t>(duration.us)
                                : static_cast<std::uint64_t>(duration.us);
    for (const auto& unit : units) {
        const auto size = static_cast<std::uint64_t>(unit.us);
        if (rest < size) continue;
        text += std::to_string(rest / size);
        text += unit.name;
        rest %= size;
    }
    return text;
}

std::optional<Duration> duration_value(std::string_view text) {
    if (text.empty()) return std::nullopt;
    Duration sum;
    const auto* next_unit = units.begin();
    while (!text.empty()) {
        std::int64_t number = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (failure != std::errc() || text.front() == '-') return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        const auto name = text.substr(0, text.find_first_of("0123456789"));
        while (next_unit != units.end() && next_unit->name != name) ++next_unit;
        if (next_unit == units.end()) return std::nullopt;
        std::int64_t us = 0;
        if (__builtin_mul_overflow(number, next_unit->us, &us) ||
            __builtin_add_overflow(sum.us, us, &sum.us))
            return std::nullopt;
        ++next_unit;
        text.remove_prefix(name.size());
    }
    return sum;
}

std::optional<Duration> duration_of_seconds(double seconds) {
    constexpr double most = 9e12;  // whole microseconds of it fit into 64 bits
    if (!std::isfinite(seconds) || seconds < 0 || seconds > most) return std::nullopt;
    return Duration{static_cast<std::int64_t>(std::llround(seconds * 1e6))};
}

}  // namespace perdure
