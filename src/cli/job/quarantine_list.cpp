// perdure quarantine [list]
// What needs a person, and why.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/job/commands.h"
#include "cli/table.h"

namespace perdure::cli {

ExitCode list_quarantine(Context& context) {
    const auto asked =
        ask(context.api, context.term, {.target = "/v1/jobs?state=quarantined&limit=1000"});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"ID", "QUEUE", "SINCE", "TRIES", "CAUSE", "WHAT"});
    for (const auto& job : list_of(*asked.body, "jobs"))
        table.add({text_of(job, "id"), text_of(job, "queue"),
                   relative_of(job, "ended_at", context.world.now()), text_of(job, "epoch"),
                   text_of(job, "cause"), what_it_does(job)});
    if (table.empty()) {
        context.term.say("nothing is in quarantine");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    context.term.say(
        "look at one: perdure job show ID; then perdure quarantine release, accept or "
        "discard");
    return ExitCode::ok;
}

}  // namespace perdure::cli
