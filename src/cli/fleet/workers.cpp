// perdure workers
// perdure worker drain NAME
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/table.h"
#include "core/worker/kinds.h"

namespace perdure::cli {
namespace {

Cell state_of(const boost::json::value& worker) {
    if (truth_of(worker, "suspect")) return Cell("suspect", Colour::yellow);
    if (truth_of(worker, "deaf")) return Cell("deaf", Colour::yellow);
    if (truth_of(worker, "draining")) return Cell("draining", Colour::yellow);
    return Cell("ok", Colour::green);
}

std::string all_or(std::string names) { return names.empty() ? "all" : names; }

std::string tenants_of(const boost::json::value& worker) {
    const auto names = joined_of(worker, "tenants");
    return names.empty() ? "default" : names;
}

// The empty kind is that of jobs with a command.
std::string kinds_of(const boost::json::value& worker) {
    std::string text;
    for (const auto& kind : list_of(worker, "kinds")) {
        const auto* name = kind.if_string();
        if (!name) continue;
        text += text.empty() ? "" : ", ";
        text += spoken_kind({name->data(), name->size()});
    }
    return all_or(text);
}

}  // namespace

ExitCode list_workers(Context& context) {
    const auto asked = ask_pages(context.api, context.term, {"/v1/workers", "workers", "after"});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"WORKER", "STATE", "RUNNING", "SLOTS", "HEARD", "SESSION", "USER", "TENANTS",
                 "QUEUES", "KINDS"});
    for (const auto& worker : list_of(*asked.body, "workers"))
        table.add({text_of(worker, "worker"), state_of(worker), text_of(worker, "running"),
                   text_of(worker, "slots"), spoken_of(worker, "silent_for") + " ago",
                   text_of(worker, "session"), text_of(worker, "user"), tenants_of(worker),
                   all_or(joined_of(worker, "queues")), kinds_of(worker)});
    if (table.empty()) {
        context.term.say("no worker is connected; start one: perdure worker");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    return ExitCode::ok;
}

ExitCode drain_worker(Context& context) {
    const auto name = context.args.text("worker");
    const ApiRequest request{.method = "POST",
                             .target = fmt::format("/v1/workers/{}/drain", escaped(name))};
    const auto asked = ask(context.api, context.term, request);
    if (!asked) return asked.code;
    if (context.json())
        context.term.print(*asked.body);
    else
        context.term.say(
            fmt::format("worker {} takes nothing new and leaves when what runs has "
                        "ended",
                        name));
    return ExitCode::ok;
}

}  // namespace perdure::cli
