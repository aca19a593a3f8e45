#include "shim/usage.h"

#include <algorithm>

#include "shim/format/fd.h"
#include "shim/format/records.h"

namespace perdure {
namespace {

constexpr std::uint64_t block = 512;  // what ru_inblock and ru_oublock count
constexpr std::size_t cpu_stat_max = 4096;

Duration of(const timeval& time) { return seconds(time.tv_sec) + microseconds(time.tv_usec); }

Duration line_in(std::string_view text, std::string_view label) {
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with(label))
            return microseconds(number_in<std::int64_t>(line.substr(label.size())).value_or(0));
    }
    return {};
}

}  // namespace

void add_usage(Usage& to, const rusage& of_one) {
    to.cpu_user = to.cpu_user + of(of_one.ru_utime);
    to.cpu_system = to.cpu_system + of(of_one.ru_stime);
    to.read_bytes += static_cast<std::uint64_t>(of_one.ru_inblock) * block;
    to.write_bytes += static_cast<std::uint64_t>(of_one.ru_oublock) * block;
}

Usage usage_in_cpu_stat(std::string_view text) {
    return {.cpu_user = line_in(text, "user_usec "), .cpu_system = line_in(text, "system_usec ")};
}

Usage usage_of_cgroup(const std::string& group) {
    if (group.empty()) return {};
    const auto text = read_file(AT_FDCWD, (group + "/cpu.stat").c_str(), cpu_stat_max);
    return text ? usage_in_cpu_stat(*text) : Usage{};
}

Usage greater_usage(Usage reaped, const Usage& before, const Usage& now) {
    const auto user = now.cpu_user - before.cpu_user;
    const auto system = now.cpu_system - before.cpu_system;
    if (user + system <= reaped.cpu_user + reaped.cpu_system) return reaped;
    reaped.cpu_user = std::max(user, Duration{});
    reaped.cpu_system = std::max(system, Duration{});
    return reaped;
}

}  // namespace perdure
