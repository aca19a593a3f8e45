#include "cli/person_time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/words.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

namespace chrono = std::chrono;

// A moment as the clock on the wall shows it, counted as if that were UTC.
struct Local {
    std::int64_t us = 0;
};

constexpr std::array<std::string_view, 7> weekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                      "thursday", "friday", "saturday"};

Error not_understood(std::string_view text) {
    return error(Errc::invalid,
                 fmt::format("\"{}\" is no time; try 09:00, \"tomorrow 7:30\", \"monday 8:00\", "
                             "+2h, \"2026-11-20 09:00\" or 2026-11-20T08:00:00Z",
                             text));
}

std::optional<int> number_in(std::string_view text) {
    int value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

// "7:30", "07:30:15", "noon", "midnight": how long after the day's beginning.
std::optional<Duration> clock_in(std::string_view text) {
    if (text == "noon") return hours(12);
    if (text == "midnight") return Duration{};
    std::array<int, 3> parts{};
    std::size_t count = 0;
    for (std::string_view rest = text;; ++count) {
        const auto colon = std::min(rest.find(':'), rest.size());
        const auto part = number_in(rest.substr(0, colon));
        if (!part || *part < 0 || colon > 2 || count == parts.size()) return std::nullopt;
        if (count > 0 && colon != 2) return std::nullopt;
        parts[count] = *part;
        if (colon == rest.size()) break;
        rest.remove_prefix(colon + 1);
    }
    if (count == 0 || parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return std::nullopt;
    return hours(parts[0]) + minutes(parts[1]) + seconds(parts[2]);
}

// "2026-11-20": its beginning.
std::optional<Local> date_in(std::string_view text) {
    const auto at = time_value(fmt::format("{}T00:00:00Z", text));
    return at ? std::optional(Local{at->us}) : std::nullopt;
}

Local begin_of_day(Local at) { return {at.us - at.us % days(1).us}; }
Local local_of(WallTime at, const UtcOffset& offset) { return {(at + offset(at)).us}; }

// The first moment at which the clock on the wall shows this; empty if it never does.
std::optional<WallTime> first_at(Local local, const UtcOffset& offset) {
    std::optional<WallTime> first;
    for (const auto around : {Duration{} - days(1), days(1)}) {
        const WallTime at{local.us - offset(WallTime{local.us} + around).us};
        if (local_of(at, offset).us == local.us && (!first || at < *first)) first = at;
    }
    return first;
}

int weekday_of(Local day) {
    return static_cast<int>((day.us / days(1).us + 4) % 7);  // 1970 began on a Thursday
}

// What stands before the clock: which days it can mean, the likeliest first.
std::optional<std::array<Local, 2>> days_meant(std::string_view word, Local today) {
    const auto later = [&](int count) { return Local{today.us + days(count).us}; };
    if (word.empty()) return std::array{today, later(1)};
    if (word == "today") return std::array{today, today};
    if (word == "tomorrow") return std::array{later(1), later(1)};
    for (int i = 0; i < 7; ++i) {
        const auto name = weekdays[static_cast<std::size_t>(i)];
        if (word != name && word != name.substr(0, 3)) continue;
        const int ahead = (i - weekday_of(today) + 7) % 7;
        return std::array{later(ahead), later(ahead == 0 ? 7 : ahead)};
    }
    if (const auto date = date_in(word)) return std::array{*date, *date};
    return std::nullopt;
}

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
}

}  // namespace

Result<WallTime> read_person_time(std::string_view given, WallTime now, const UtcOffset& offset) {
    const auto text = lower(trimmed(given));
    if (const auto exact = time_value(trimmed(given))) return *exact;
    if (text == "now") return now;
    if (text.starts_with('+')) {
        const auto wait = duration_value(text.substr(1));
        if (!wait) return not_understood(given);
        return now + *wait;
    }
    auto space = text.rfind(' ');
    if (space == std::string::npos && text.size() > 10 && text[10] == 't') space = 10;
    const bool has_day = space != std::string::npos && clock_in(text.substr(space + 1));
    const auto day = has_day ? std::string(trimmed(text.substr(0, space))) : std::string();
    const auto clock = clock_in(has_day ? text.substr(space + 1) : text);
    if (!clock) return not_understood(given);
    const auto meant = days_meant(day, begin_of_day(local_of(now, offset)));
    if (!meant) return not_understood(given);
    for (const auto candidate : *meant) {
        const auto at = first_at({candidate.us + clock->us}, offset);
        if (!at)
            return error(
                Errc::invalid,
                fmt::format("\"{}\" does not exist: the clocks are put forward then", given));
        // A date that has passed is a date; without one the next such time is meant.
        if (*at > now || (has_day && date_in(day))) return *at;
    }
    return error(Errc::invalid, fmt::format("\"{}\" has passed", given));
}

std::string local_text(WallTime time, const UtcOffset& offset) {
    const auto ahead = offset(time);
    const auto text = time_text(time + ahead).substr(0, 23);
    if (ahead == Duration{}) return text + "Z";
    const auto minutes_ahead = std::abs(ahead.us) / minutes(1).us;
    return fmt::format("{}{}{:02}:{:02}", text, ahead.us < 0 ? '-' : '+', minutes_ahead / 60,
                       minutes_ahead % 60);
}

}  // namespace perdure::cli
