// perdure quarantine release|accept|discard ID... | --queue Q ... | --all
// One request for each job; the first failure decides the exit code, the others are still tried.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/job/chosen_jobs.h"
#include "cli/recovery/quarantined.h"
#include "cli/recovery/recovery_commands.h"

namespace perdure::cli {
namespace {

constexpr auto release_patience = seconds(30);  // a release waits until the old process is dead

struct QuarantineAct {
    std::string_view verb;
    std::string body;
    std::string_view done;  // "job … " and this
};

// The ids to act on; empty: the code says why.
std::vector<std::string> chosen(Context& context, std::string_view verb, ExitCode& code) {
    const auto& args = context.args;
    if (!args.all("id").empty()) return args.all("id");
    if (!has_filter(args) && !args.flag("all")) {
        code = context.term.usage(
            "name jobs, or choose them: --queue, --kind, --cause, --older-than or --all");
        return {};
    }
    const auto found = find_quarantined(context);
    code = found.code;
    std::vector<std::string> ids;
    if (!found.jobs) return ids;
    for (const auto& job : *found.jobs) ids.push_back(text_of(job, "id"));
    if (ids.empty()) {
        context.term.say("nothing in quarantine fits");
        return ids;
    }
    if (is_confirmed(context, verb, ids.size(), code)) return ids;
    return {};
}

ExitCode act_on_chosen(Context& context, const QuarantineAct& act) {
    auto code = ExitCode::ok;
    const auto ids = chosen(context, act.verb, code);
    boost::json::array answers;
    for (const auto& id : ids) {
        const ApiRequest request{.method = "POST",
                                 .target = fmt::format("/v1/jobs/{}/{}", escaped(id), act.verb),
                                 .body = act.body,
                                 .timeout = release_patience};
        auto asked = ask(context.api, context.term, request);
        if (!asked) {
            if (code == ExitCode::ok) code = asked.code;
            continue;
        }
        if (!context.json())
            context.term.say(fmt::format(
                "job {} is {}", id,
                act.done.empty() ? text_of(*asked.body, "state") : std::string(act.done)));
        answers.push_back(std::move(*asked.body));
    }
    if (context.json()) context.term.print(boost::json::value(std::move(answers)));
    return code;
}

}  // namespace

ExitCode release_jobs(Context& context) {
    const auto* body = context.args.flag("may-still-run") ? "{\"may_still_run\":true}" : "";
    return act_on_chosen(context, {"release", body, ""});
}

ExitCode accept_jobs(Context& context) { return act_on_chosen(context, {"accept", "", ""}); }

ExitCode discard_jobs(Context& context) {
    return act_on_chosen(context, {"discard", "", "dealt with"});
}

}  // namespace perdure::cli
