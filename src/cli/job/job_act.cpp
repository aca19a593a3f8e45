// perdure job cancel|retry|hold|unhold|discard ID... | --queue Q ... | --all
// One request for each id; the first failure decides the exit code, the others are still tried.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/job/chosen_jobs.h"
#include "cli/job/job_commands.h"
#include "cli/job/job_options.h"

namespace perdure::cli {
namespace {

constexpr std::string_view waits = "scheduled,ready,blocked,waiting";
constexpr std::string_view alive = "scheduled,ready,blocked,waiting,starting,running";

struct Act {
    std::string_view verb;
    std::string_view states;  // in which it is possible
    std::string body;
    // What to tell the person about the answer.
    std::string (*told)(const std::string& id, const boost::json::value& answer);
};

ExitCode act_on_all(Context& context, const Act& act) {
    const auto chosen = choose_jobs(context, act.verb, act.states);
    auto code = chosen.code;
    boost::json::array answers;
    for (const auto& id : chosen.ids) {
        const ApiRequest request{.method = "POST",
                                 .target = fmt::format("/v1/jobs/{}/{}", escaped(id), act.verb),
                                 .body = act.body};
        auto asked = ask(context.api, context.term, request);
        if (!asked) {
            if (code == ExitCode::ok) code = asked.code;
            continue;
        }
        if (!context.json()) context.term.say(act.told(id, *asked.body));
        answers.push_back(std::move(*asked.body));
    }
    if (context.json()) context.term.print(boost::json::value(std::move(answers)));
    return code;
}

std::string told_cancel(const std::string& id, const boost::json::value& answer) {
    const auto outcome = text_of(answer, "outcome");
    if (outcome == "kill_ordered") return fmt::format("job {} is being stopped", id);
    if (outcome == "already_ended") return fmt::format("job {} had already ended", id);
    return fmt::format("job {} is cancelled", id);
}

}  // namespace

ExitCode cancel_jobs(Context& context) {
    return act_on_all(context, {"cancel", alive, "", told_cancel});
}

// Those whose rows cannot be understood; without --damaged what is in quarantine.
ExitCode discard_job(Context& context) {
    boost::json::object body;
    if (context.args.flag("damaged")) body["damaged"] = true;
    if (context.args.flag("may-still-run")) body["may_still_run"] = true;
    return act_on_all(context,
                      {"discard", "quarantined", body.empty() ? "" : boost::json::serialize(body),
                       [](const std::string& id, const auto&) {
                           return fmt::format("job {} is discarded", id);
                       }});
}

ExitCode hold_jobs(Context& context) {
    return act_on_all(context, {"hold", waits, "", [](const std::string& id, const auto&) {
                                    return fmt::format("job {} is held", id);
                                }});
}

ExitCode unhold_jobs(Context& context) {
    return act_on_all(context, {"unhold", "blocked", "", [](const std::string& id, const auto&) {
                                    return fmt::format("job {} goes on", id);
                                }});
}

// Each one gets a key, so that a repeated retry does not make a third job.
ExitCode retry_jobs(Context& context) {
    auto& term = context.term;
    const auto chosen = choose_jobs(context, "retry", "failed,expired,cancelled");
    auto code = chosen.code;
    boost::json::array answers;
    for (const auto& id : chosen.ids) {
        boost::json::object body;
        set_key(body, new_idempotency_key(context.system));
        const ApiRequest request{.method = "POST",
                                 .target = fmt::format("/v1/jobs/{}/retry", escaped(id)),
                                 .body = boost::json::serialize(body)};
        auto asked = ask(context.api, term, request);
        if (!asked) {
            if (code == ExitCode::ok) code = asked.code;
            continue;
        }
        if (!context.json()) {
            term.out(text_of(*asked.body, "id") + "\n");
            term.say(fmt::format("job {} is submitted again", id));
        }
        answers.push_back(std::move(*asked.body));
    }
    if (context.json()) term.print(boost::json::value(std::move(answers)));
    return code;
}

}  // namespace perdure::cli
