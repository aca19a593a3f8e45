// perdure recover [--report-only]
// One sweep by hand: what is overdue, what is done about it, and by which rule.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/recovery/recovery_commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

std::string outcome_text(const boost::json::value& finding) {
    const auto outcome = text_of(finding, "outcome");
    if (outcome == "would_do") return "would do";
    if (outcome == "left_alone") return "left alone";
    if (outcome == "refused") return "too late: " + text_of(finding, "why");
    return outcome;
}

std::string summary_of(const boost::json::value& report) {
    const auto& healthy = member(report, "healthy");
    auto text = fmt::format(
        "looked at everything that has a deadline: {} jobs and {} workers are "
        "as they should be",
        number_of(healthy, "jobs"), number_of(healthy, "workers"));
    const auto left = number_of(report, "left_alone");
    if (left > 0) text += fmt::format("; {} are left alone: their workers may come back", left);
    const auto silent = number_of(report, "silent_workers");
    if (silent > 0) text += fmt::format("; {} workers are silent", silent);
    return text;
}

}  // namespace

ExitCode recover_now(Context& context) {
    const bool report_only = context.args.flag("report-only");
    const ApiRequest request{.method = "POST",
                             .target = "/v1/recover",
                             .body = report_only ? "{\"report_only\":true}" : ""};
    const auto asked = ask(context.api, context.term, request);
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"JOB", "TRY", "OUTCOME", "RULE", "SAW", "DOES"});
    for (const auto& finding : list_of(*asked.body, "findings"))
        table.add({text_of(finding, "job"), text_of(finding, "epoch"), outcome_text(finding),
                   text_of(finding, "rule"), text_of(finding, "saw"), text_of(finding, "does")});
    if (!table.empty()) context.term.out(table.text(context.term));
    context.term.say(summary_of(*asked.body));
    if (table.empty()) context.term.say("nothing is overdue: there is nothing to recover");
    if (!table.empty() && report_only) context.term.say("nothing was changed: --report-only");
    return ExitCode::ok;
}

}  // namespace perdure::cli
