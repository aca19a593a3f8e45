// perdure recoveries [--job ID] [--cause C] [--since 1h]
// The ledger: every automatic repair, newest first.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/human.h"
#include "cli/recovery/recovery_commands.h"
#include "cli/table.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

std::string query_of(const Args& args, WallTime now, std::string& wrong) {
    std::string query;
    const auto add = [&](std::string_view name, std::string_view text) {
        query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, escaped(text));
    };
    for (const auto* name : {"job", "cause", "detector", "incident", "limit", "before", "tenant"})
        if (const auto given = args.one(name)) add(name, *given);
    if (const auto since = args.one("since")) {
        const auto ago = duration_value(*since);
        const auto at = ago ? std::optional(now - *ago) : time_value(*since);
        if (!at) wrong = "--since must be a duration like 1h, or a time like 2026-11-15T09:30:00Z";
        if (at) add("since", time_text(*at));
    }
    return query;
}

// The time of today, or the date as well.
std::string clock_of(const boost::json::value& entry, WallTime now) {
    const auto at = time_of(entry, "at");
    if (!at) return "";
    const auto text = time_text(*at);
    const bool today = text.substr(0, 10) == time_text(now).substr(0, 10);
    return today ? text.substr(11, 8) : text.substr(0, 10) + " " + text.substr(11, 5);
}

}  // namespace

ExitCode list_recoveries(Context& context) {
    std::string wrong;
    const auto now = context.system.now();
    const auto query = query_of(context.args, now, wrong);
    if (!wrong.empty()) return context.term.usage(wrong);
    const Pages pages{"/v1/recoveries" + query, "recoveries", "before", Pages::Until::lines};
    const auto asked = ask_pages(context.api, context.term, pages);
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"UTC", "JOB", "SEEN BY", "SEEN AFTER", "BACK AFTER", "WHAT HAPPENED"});
    for (const auto& entry : list_of(*asked.body, "recoveries"))
        table.add({clock_of(entry, now), text_of(entry, "job"), text_of(entry, "detector"),
                   spoken_of(entry, "time_to_detect"), spoken_of(entry, "time_to_act"),
                   text_of(entry, "story")});
    for (const auto& row : list_of(*asked.body, "damaged"))
        context.term.say(fmt::format("entry {} cannot be understood: {}", text_of(row, "row"),
                                     text_of(row, "fix")));
    if (table.empty()) {
        context.term.say("nothing had to be repaired");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    if (has(*asked.body, "next"))
        context.term.say(fmt::format("there are more: --before {}", text_of(*asked.body, "next")));
    context.term.say("all about one job: perdure job show ID");
    return ExitCode::ok;
}

}  // namespace perdure::cli
