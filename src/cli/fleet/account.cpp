// perdure account [--by queue] [--since 1d]
// What attempts have used, added up over the pages of the server.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <vector>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/human.h"
#include "cli/table.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

struct Sum {
    std::string name;
    std::int64_t attempts = 0;
    std::int64_t unknown = 0;
    Duration ran_for, cpu_user, cpu_system;
    std::int64_t read_bytes = 0;
    std::int64_t write_bytes = 0;
    std::int64_t peak_memory = 0;

    Duration cpu() const { return cpu_user + cpu_system; }
};

Duration span_of(const boost::json::value& from, std::string_view name) {
    return duration_value(text_of(from, name)).value_or(Duration{});
}

// A name may be on several pages. Most processor time first.
std::vector<Sum> add_up(const boost::json::value& body) {
    std::map<std::string, Sum> by_name;
    for (const auto& line : list_of(body, "lines")) {
        auto& sum = by_name[text_of(line, "name")];
        sum.name = text_of(line, "name");
        sum.attempts += number_of(line, "attempts");
        sum.unknown += number_of(line, "unknown");
        sum.ran_for = sum.ran_for + span_of(line, "ran_for");
        sum.cpu_user = sum.cpu_user + span_of(line, "cpu_user");
        sum.cpu_system = sum.cpu_system + span_of(line, "cpu_system");
        sum.read_bytes += number_of(line, "read_bytes");
        sum.write_bytes += number_of(line, "write_bytes");
        sum.peak_memory = std::max(sum.peak_memory, number_of(line, "peak_memory"));
    }
    std::vector<Sum> sums;
    for (auto& [name, sum] : by_name) sums.push_back(std::move(sum));
    std::stable_sort(sums.begin(), sums.end(),
                     [](const Sum& a, const Sum& b) { return a.cpu() > b.cpu(); });
    return sums;
}

boost::json::value as_json(const boost::json::value& body, const std::vector<Sum>& sums) {
    boost::json::array lines;
    for (const auto& sum : sums)
        lines.push_back({{"name", sum.name},
                         {"attempts", sum.attempts},
                         {"unknown", sum.unknown},
                         {"ran_for", duration_text(sum.ran_for)},
                         {"cpu_user", duration_text(sum.cpu_user)},
                         {"cpu_system", duration_text(sum.cpu_system)},
                         {"read_bytes", sum.read_bytes},
                         {"write_bytes", sum.write_bytes},
                         {"peak_memory", sum.peak_memory}});
    return boost::json::object{{"by", text_of(body, "by")}, {"lines", std::move(lines)}};
}

std::string bytes_text(std::int64_t bytes) {
    return bytes > 0 ? spoken_size(static_cast<std::uint64_t>(bytes)) : "";
}

}  // namespace

ExitCode show_account(Context& context) {
    const auto by = context.args.one("by").value_or("queue");
    const bool is_of_all = by == "tenant";
    const auto tenant = context.args.one("tenant").value_or(is_of_all ? "*" : "default");
    auto target = fmt::format("/v1/account?by={}&tenant={}", escaped(by), escaped(tenant));
    if (const auto since = context.args.one("since")) {
        const auto ago = duration_value(*since);
        const auto at = ago ? std::optional(context.system.now() - *ago) : time_value(*since);
        if (!at)
            return context.term.usage(
                "--since must be a duration like 1d, or a time like 2026-11-15T09:30:00Z");
        target += "&since=" + escaped(time_text(*at));
    }
    const auto asked =
        ask_pages(context.api, context.term, {target, "lines", "after", Pages::Until::end});
    if (!asked) return asked.code;
    const auto sums = add_up(*asked.body);
    if (context.json()) {
        context.term.print(as_json(*asked.body, sums));
        return ExitCode::ok;
    }
    auto heading = by;
    for (auto& letter : heading) letter = static_cast<char>(letter - 'a' + 'A');
    Table table({heading, "ATTEMPTS", "RAN FOR", "CPU", "USER", "SYSTEM", "READ", "WRITTEN",
                 "PEAK MEMORY"});
    std::int64_t unknown = 0;
    for (const auto& sum : sums) {
        unknown += sum.unknown;
        table.add({sum.name, std::to_string(sum.attempts), spoken(sum.ran_for), spoken(sum.cpu()),
                   spoken(sum.cpu_user), spoken(sum.cpu_system), bytes_text(sum.read_bytes),
                   bytes_text(sum.write_bytes), bytes_text(sum.peak_memory)});
    }
    if (table.empty()) {
        context.term.say("no attempt has ended");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    if (unknown > 0)
        context.term.say(
            fmt::format("of {} attempts nobody knows what they used: they did not run, or their "
                        "end was presumed",
                        unknown));
    return ExitCode::ok;
}

}  // namespace perdure::cli
