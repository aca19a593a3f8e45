// perdure quarantine [list]
// What needs a person, and why.
#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/recovery/quarantined.h"
#include "cli/recovery/recovery_commands.h"
#include "cli/table.h"

namespace perdure::cli {

ExitCode list_quarantine(Context& context) {
    const auto found = find_quarantined(context);
    if (!found.jobs) return found.code;
    if (context.json()) {
        boost::json::object document;
        document["jobs"] = *found.jobs;
        context.term.print(document);
        return ExitCode::ok;
    }
    Table table({"ID", "QUEUE", "SINCE", "TRIES", "CAUSE", "MAY STILL RUN ON", "WHAT"});
    for (const auto& job : *found.jobs)
        table.add({text_of(job, "id"), text_of(job, "queue"),
                   relative_of(job, "ended_at", context.system.now()), text_of(job, "epoch"),
                   text_of(job, "cause"), text_of(job, "may_still_run_on"), what_it_does(job)});
    if (table.empty()) {
        context.term.say("nothing is in quarantine");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    context.term.say(
        "the evidence: perdure quarantine show ID; then perdure quarantine release, accept or "
        "discard");
    return ExitCode::ok;
}

}  // namespace perdure::cli
