// perdure why ID
// All that stands between a job and its end, and which rules decided so far.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/human.h"
#include "cli/job/job_commands.h"
#include "cli/job/why_text.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

// Servers give a line or an object for each attempt; both are shown.
std::string history_text(const boost::json::value& entry) {
    if (const auto* line = entry.if_string())
        return fmt::format("  {}\n", fitted({line->data(), line->size()}));
    auto text = fmt::format("  attempt {}: {}  [{}]\n", text_of(entry, "epoch"),
                            fitted(text_of(entry, "cause")), text_of(entry, "rule"));
    if (has(entry, "detail")) text += fmt::format("    {}\n", fitted(text_of(entry, "detail")));
    return text;
}

// What was repaired so far: who saw what, and which rules fired [P10].
std::string repair_text(const boost::json::value& entry) {
    auto text = fmt::format("- {}\n", fitted(text_of(entry, "story")));
    text += fmt::format("  seen by {} after {}  [{}]\n", text_of(entry, "detector"),
                        spoken_of(entry, "time_to_detect"), text_of(entry, "seen_by"));
    text +=
        fmt::format("  decided: {}  [{}]\n", text_of(entry, "decision"), text_of(entry, "rule"));
    return text;
}

}  // namespace

ExitCode explain_job(Context& context) {
    const auto id = context.args.text("id");
    const auto asked =
        ask(context.api, context.term, {.target = fmt::format("/v1/jobs/{}/why", escaped(id))});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    const auto state = text_of(*asked.body, "state");
    std::string text =
        fmt::format("job {} is {}\n", id, context.term.paint(state, colour_of_state(state)));
    for (const auto& blocker : list_of(*asked.body, "blockers"))
        text += blocker_text(blocker, context.system.now());
    const auto& history = list_of(*asked.body, "history");
    if (!history.empty()) text += "before:\n";
    for (const auto& entry : history) text += history_text(entry);
    const auto& repairs = list_of(*asked.body, "recoveries");
    if (!repairs.empty()) text += "repaired:\n";
    for (const auto& entry : repairs) text += repair_text(entry);
    context.term.out(text);
    return ExitCode::ok;
}

}  // namespace perdure::cli
