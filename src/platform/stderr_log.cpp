#include "platform/stderr_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iterator>

#include "platform/system_time.h"
#include "wire/json_writer.h"

namespace perdure {
namespace {

std::string rfc3339(WallTime at) {
    const std::chrono::sys_time<std::chrono::microseconds> instant{
        std::chrono::microseconds(at.us)};
    const auto day = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(instant - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count(), time.seconds().count(),
                       time.subseconds().count());
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool needs_quotes(std::string_view value) {
    if (value.empty()) return true;
    for (const char c : value)
        if (is_control(c) || c == ' ' || c == '"' || c == '=' || c == '\\') return true;
    return false;
}

void append_escaped(std::string& line, char c) {
    if (c == '"' || c == '\\') {
        line += '\\';
        line += c;
    } else if (c == '\n') {
        line += "\\n";
    } else if (c == '\t') {
        line += "\\t";
    } else if (is_control(c)) {
        fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
        line += c;
    }
}

void append(std::string& line, std::string_view name, std::string_view value) {
    if (!line.empty()) line += ' ';
    line += name;
    line += '=';
    if (!needs_quotes(value)) {
        line += value;
        return;
    }
    line += '"';
    for (const char c : value) append_escaped(line, c);
    line += '"';
}

}  // namespace

std::string logfmt(const LogEvent& event) {
    std::string line;
    append(line, "time", rfc3339(event.at));
    append(line, "level", to_string(event.level));
    append(line, "component", event.component);
    append(line, "event", event.event);
    for (const auto& field : event.fields) append(line, field.name, field.value);
    line += '\n';
    return line;
}

std::string log_json(const LogEvent& event) {
    std::string line;
    JsonWriter out(line);
    out.begin_object();
    out.field("time", rfc3339(event.at));
    out.field("level", to_string(event.level));
    out.field("component", event.component);
    out.field("event", event.event);
    for (const auto& field : event.fields) {
        out.text_key(field.name);
        out.value(field.value);
    }
    out.end_object();
    line += '\n';
    return line;
}

void StderrLog::write(Level level, std::string_view component, std::string_view event,
                      const std::vector<Field>& fields) {
    const LogEvent what{wall_now(), level, component, event, fields};
    const auto line = form_ == LogForm::json ? log_json(what) : logfmt(what);
    std::string_view rest = line;
    while (!rest.empty()) {
        const auto written = ::write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace perdure
