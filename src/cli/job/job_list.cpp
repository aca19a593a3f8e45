// perdure jobs [--state S] [--queue Q] ...
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/job/commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

std::string query_of(const Args& args) {
    std::string query;
    for (const auto* name : {"state", "queue", "kind", "key", "limit", "before", "tenant"}) {
        const auto& given = args.all(name);
        if (given.empty()) continue;
        std::string words;
        for (const auto& word : given) words += (words.empty() ? "" : ",") + word;
        query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, escaped(words));
    }
    return query;
}

std::string note_of(const boost::json::value& job) {
    if (has(job, "damaged")) return "cannot be understood: perdure job show";
    if (has(job, "progress")) return progress_of(job);
    if (has(job, "worker")) return "on " + text_of(job, "worker");
    const auto cause = text_of(job, "cause");
    return cause == "exit" || cause == text_of(job, "state") ? "" : cause;
}

}  // namespace

ExitCode list_jobs(Context& context) {
    const Pages pages{"/v1/jobs" + query_of(context.args), "jobs", "before", Pages::Until::lines};
    const auto asked = ask_pages(context.api, context.term, pages);
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"ID", "STATE", "QUEUE", "BY", "SUBMITTED", "TRIES", "NOTE", "WHAT"});
    const auto now = context.world.now();
    for (const auto& job : list_of(*asked.body, "jobs")) {
        const auto state = text_of(job, "state");
        table.add({text_of(job, "id"), Cell(state, colour_of_state(state)), text_of(job, "queue"),
                   text_of(member(job, "submitted_by"), "name"),
                   relative_of(job, "submitted_at", now), text_of(job, "epoch"), note_of(job),
                   what_it_does(job)});
    }
    if (table.empty()) {
        context.term.say("no jobs; submit one: perdure run -- echo hello");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    if (has(*asked.body, "next"))
        context.term.say(fmt::format("there are more: --before {}", text_of(*asked.body, "next")));
    return ExitCode::ok;
}

}  // namespace perdure::cli
