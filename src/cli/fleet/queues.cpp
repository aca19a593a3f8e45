// perdure queues
// perdure queues pause|resume NAME
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

std::string tenant_of(const Args& args) {
    const auto tenant = args.one("tenant");
    return tenant ? "?tenant=" + escaped(*tenant) : "";
}

ExitCode change_queue(Context& context, std::string_view verb, std::string_view told) {
    const auto name = context.args.text("queue");
    const ApiRequest request{
        .method = "POST",
        .target = fmt::format("/v1/queues/{}/{}{}", escaped(name), verb, tenant_of(context.args))};
    const auto asked = ask(context.api, context.term, request);
    if (!asked) return asked.code;
    if (context.json())
        context.term.print(*asked.body);
    else
        context.term.say(fmt::format("queue {} {}", name, told));
    return ExitCode::ok;
}

}  // namespace

ExitCode list_queues(Context& context) {
    const Pages pages{"/v1/queues" + tenant_of(context.args), "queues", "after"};
    const auto asked = ask_pages(context.api, context.term, pages);
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"QUEUE", "", "READY", "BLOCKED", "SCHEDULED", "RUNNING", "SUCCEEDED", "FAILED",
                 "QUARANTINED"});
    for (const auto& queue : list_of(*asked.body, "queues")) {
        const auto& jobs = member(queue, "jobs");
        const auto count = [&](const char* state) {
            return fmt::format("{}", number_of(jobs, state));
        };
        const auto running = number_of(jobs, "running") + number_of(jobs, "starting");
        table.add({text_of(queue, "queue"),
                   Cell(truth_of(queue, "paused") ? "paused" : "", Colour::yellow), count("ready"),
                   count("blocked"), count("scheduled"), fmt::format("{}", running),
                   count("succeeded"), count("failed"), count("quarantined")});
    }
    if (table.empty()) {
        context.term.say("no queues yet: a queue exists as soon as a job names it");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    return ExitCode::ok;
}

ExitCode pause_queue(Context& context) {
    return change_queue(context, "pause", "is paused; running jobs go on");
}

ExitCode resume_queue(Context& context) { return change_queue(context, "resume", "goes on"); }

}  // namespace perdure::cli
