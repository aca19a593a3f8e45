// perdure jobs [--state S] [--queue Q] ...
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "base/words.h"
#include "cli/answer.h"
#include "cli/job/job_commands.h"
#include "cli/table.h"
#include "config/value.h"
#include "core/job/job.h"

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

// A state that there is not would be refused, too, but without its neighbour.
std::optional<std::string> wrong_state(const Args& args) {
    std::vector<std::string_view> known;
    for (const auto& place : places) known.push_back(place.name);
    for (const auto& given : args.all("state"))
        for (const auto& state : split_list(given)) {
            if (std::find(known.begin(), known.end(), state) != known.end()) continue;
            const auto meant = nearest(state, known);
            return fmt::format("there is no state {}{}; there are: {}", state,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(known, ", "));
        }
    return std::nullopt;
}

std::string note_of(const boost::json::value& job) {
    if (has(job, "damaged")) return "cannot be understood: perdure job show";
    if (has(job, "progress")) return progress_of(job);
    if (has(job, "worker")) return "on " + text_of(job, "worker");
    const auto cause = text_of(job, "cause");
    return cause == "exit" || cause == text_of(job, "state") ? "" : cause;
}

// What stood there goes when what comes is there: nothing flickers.
constexpr std::string_view to_the_top = "\x1b[H";
constexpr std::string_view clear_the_rest = "\x1b[J";
constexpr auto between_looks = seconds(2);

std::string over_what_stood_there(const std::string& text) {
    std::string made;
    for (const char c : text) {
        if (c == '\n') made += "\x1b[K";
        made += c;
    }
    return made;
}

ExitCode show_list(Context& context) {
    auto query = query_of(context.args);
    // What is watched fits a small window.
    if (context.args.flag("watch") && !context.args.flag("limit"))
        query += query.empty() ? "?limit=20" : "&limit=20";
    const Pages pages{"/v1/jobs" + query, "jobs", "before", Pages::Until::lines};
    const auto asked = ask_pages(context.api, context.term, pages);
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"ID", "STATE", "QUEUE", "BY", "SUBMITTED", "TRIES", "NOTE", "WHAT"});
    const auto now = context.system.now();
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
    auto text = table.text(context.term);
    if (context.args.flag("watch")) text = over_what_stood_there(text);
    context.term.out(text);
    if (context.args.flag("watch")) return ExitCode::ok;
    if (has(*asked.body, "next"))
        context.term.say(fmt::format("there are more: --before {}", text_of(*asked.body, "next")));
    return ExitCode::ok;
}

}  // namespace

ExitCode list_jobs(Context& context) {
    if (const auto wrong = wrong_state(context.args)) return context.term.usage(*wrong);
    if (!context.args.flag("watch")) return show_list(context);
    if (context.json() || context.term.look().width == 0)
        return context.term.usage("--watch is for a terminal; for programs: perdure jobs --json");
    context.system.catch_interrupts();
    context.term.out("\x1b[2J");
    while (true) {
        context.term.out(to_the_top);
        const auto code = show_list(context);
        context.term.out(clear_the_rest);
        if (code != ExitCode::ok && code != ExitCode::unreachable) return code;
        context.system.pause(between_looks);
        if (context.system.interrupted() != Interrupt::none) return ExitCode::ok;
    }
}

}  // namespace perdure::cli
