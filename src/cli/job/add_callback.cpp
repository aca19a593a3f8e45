// perdure job add-callback ID [--on success|failure|end] -- COMMAND...
#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/job/job_commands.h"
#include "cli/job/job_options.h"
#include "cli/job/submitting.h"

namespace perdure::cli {

ExitCode add_callback(Context& context) {
    auto& term = context.term;
    const auto& args = context.args;
    if (args.rest.empty() && !args.flag("kind"))
        return term.usage("what shall be run? perdure job add-callback ID -- ./tell-me");
    auto job = job_from(context);
    if (!job) return not_made(context, job.error());
    const auto id = args.text("id");
    const auto on = args.one("on").value_or("end");
    boost::json::object body;
    body["on"] = on;
    body["job"] = std::move(*job);
    const ApiRequest request{.method = "POST",
                             .target = fmt::format("/v1/jobs/{}/callbacks", escaped(id)),
                             .body = boost::json::serialize(body)};
    const auto asked = ask(context.api, term, request);
    if (!asked) return asked.code;
    if (context.json()) {
        term.print(*asked.body);
        return ExitCode::ok;
    }
    if (has(*asked.body, "made")) {
        term.out(text_of(*asked.body, "made") + "\n");
        term.say(fmt::format("job {} has ended: its callback is this job", id));
    } else {
        term.say(fmt::format("added; it is made when job {} ends ({})", id, on));
    }
    return ExitCode::ok;
}

}  // namespace perdure::cli
