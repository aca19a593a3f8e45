#include "shim/job_request.h"

#include "shim/format/json_text.h"
#include "shim/format/records.h"

namespace perdure {
namespace {

ParsedRequest refuse(std::string problem) { return {std::nullopt, std::move(problem), 0}; }

// A number of exactly `digits` digits, taken off the front.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : text.substr(0, digits)) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

// Days since 1970 of a date of the Gregorian calendar.
std::int64_t days_since_1970(int year, int month, int day) {
    const int shifted = month <= 2 ? year - 1 : year;
    const std::int64_t era = shifted / 400;
    const int year_of_era = shifted - static_cast<int>(era) * 400;
    const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146'097 + day_of_era - 719'468;
}

bool is_day(int year, int month, int day) {
    constexpr int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12) return false;
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= lengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

std::optional<std::int64_t> take_fraction_us(std::string_view& text) {
    if (!take(text, '.')) return 0;
    std::int64_t us = 0;
    std::int64_t unit = 100'000;
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        us += (text.front() - '0') * unit;
        unit /= 10;
        text.remove_prefix(1);
    }
    return us;
}

std::optional<int> take_offset_minutes(std::string_view& text) {
    if (take(text, 'Z')) return 0;
    const bool east = take(text, '+');
    if (!east && !take(text, '-')) return std::nullopt;
    const auto hour = take_digits(text, 2);
    if (!hour || !take(text, ':')) return std::nullopt;
    const auto minute = take_digits(text, 2);
    if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
    return (east ? 1 : -1) * (*hour * 60 + *minute);
}

ParsedRequest parse_progress(std::string_view line) {
    const auto percent = number_in<int>(take_word(line));
    if (!percent || *percent < 0 || *percent > 100)
        return refuse("progress needs a number from 0 to 100");
    JobRequest request{.kind = JobRequest::Kind::progress, .percent = *percent};
    request.body = line;
    return {std::move(request), {}, 0};
}

ParsedRequest parse_verdict(std::string_view line) {
    JobRequest request{.kind = JobRequest::Kind::verdict};
    const auto word = take_word(line);
    if (word == "at") {
        request.verdict = Cause::verdict_at;
        request.verdict_at = parse_date(line);
        if (!request.verdict_at) return refuse("the time is not like 2026-11-15T08:00:00Z");
        return {std::move(request), {}, 0};
    }
    if (word == "retry")
        request.verdict = Cause::verdict_retry;
    else if (word == "permanent")
        request.verdict = Cause::verdict_permanent;
    else if (word == "conflict")
        request.verdict = Cause::conflict;
    else if (word == "disconnected")
        request.verdict = Cause::disconnected;
    else
        return refuse("a verdict is retry, permanent, conflict, disconnected or at TIME");
    if (!line.empty()) return refuse("there is something after the verdict");
    return {std::move(request), {}, 0};
}

// "SIZE", and that many bytes after the line.
ParsedRequest parse_body(JobRequest::Kind kind, std::string_view size_text, std::string_view rest) {
    const auto size = number_in<std::size_t>(size_text);
    if (!size) return refuse("the size of the body is not a number");
    if (*size > request_body_max) return refuse("the body is larger than 1 MiB");
    if (rest.size() < *size) return {};
    JobRequest request{.kind = kind};
    request.body = rest.substr(0, *size);
    if (kind == JobRequest::Kind::result && !is_json(request.body))
        return refuse("the result is not valid JSON");
    return {std::move(request), {}, *size};
}

// "METHOD TARGET SIZE", and so many bytes.
ParsedRequest parse_call(std::string_view line, std::string_view rest) {
    const std::string method(take_word(line));
    const std::string target(take_word(line));
    if ((method != "GET" && method != "POST") || !target.starts_with('/'))
        return refuse("a call is `call GET|POST TARGET SIZE`, and TARGET begins with a slash");
    auto parsed = parse_body(JobRequest::Kind::call, line, rest);
    if (!parsed.request) return parsed;
    parsed.request->method = method;
    parsed.request->target = target;
    return parsed;
}

}  // namespace

std::optional<WallTime> parse_date(std::string_view text) {
    const auto year = take_digits(text, 4);
    if (!year || !take(text, '-')) return std::nullopt;
    const auto month = take_digits(text, 2);
    if (!month || !take(text, '-')) return std::nullopt;
    const auto day = take_digits(text, 2);
    if (!day || !is_day(*year, *month, *day) || !take(text, 'T')) return std::nullopt;
    const auto hour = take_digits(text, 2);
    if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
    const auto minute = take_digits(text, 2);
    if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
    const auto second = take_digits(text, 2);
    if (!second || *second > 59) return std::nullopt;
    const auto fraction = take_fraction_us(text);
    if (!fraction) return std::nullopt;
    const auto offset = take_offset_minutes(text);
    if (!offset || !text.empty()) return std::nullopt;
    const auto minutes_of_day = *hour * 60 + *minute - *offset;
    const auto whole = days(days_since_1970(*year, *month, *day)) + minutes(minutes_of_day);
    return WallTime{(whole + seconds(*second)).us + *fraction};
}

ParsedRequest parse_request(std::string_view buffer) {
    const auto end = buffer.substr(0, request_line_max).find('\n');
    if (end == std::string_view::npos) {
        if (buffer.size() < request_line_max) return {};
        return refuse("the line is longer than 4096 bytes");
    }
    auto line = buffer.substr(0, end);
    const auto rest = buffer.substr(end + 1);
    const auto word = take_word(line);
    ParsedRequest parsed;
    if (word == "progress")
        parsed = parse_progress(line);
    else if (word == "begin" && line.empty())
        parsed.request = JobRequest{.kind = JobRequest::Kind::begin};
    else if (word == "checkpoint")
        parsed = parse_body(JobRequest::Kind::checkpoint, line, rest);
    else if (word == "verdict")
        parsed = parse_verdict(line);
    else if (word == "result")
        parsed = parse_body(JobRequest::Kind::result, line, rest);
    else if (word == "call")
        parsed = parse_call(line, rest);
    else
        return refuse("a request is progress, begin, checkpoint, verdict, result or call");
    if (parsed.request) parsed.consumed += end + 1;
    return parsed;
}

}  // namespace perdure
