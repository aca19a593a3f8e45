// perdure job wait ID
// Ends when the job ends, with the same exit code as `run`.
#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/job/commands.h"
#include "cli/job/follow.h"

namespace perdure::cli {

ExitCode wait_for_job(Context& context) {
    const auto id = context.args.text("id");
    // An id that does not exist is told at once, and a lost connection is not taken for it.
    const auto known = ask(context.api, context.term, {.target = "/v1/jobs/" + escaped(id)});
    if (!known) return known.code;
    const auto followed = follow(context, id, {.show_output = false});
    if (followed.how != Followed::How::ended) return followed.code;
    if (context.json())
        context.term.print(followed.job);
    else
        context.term.say(fmt::format("job {} {}", id, how_it_ended(followed.job)));
    return exit_code_of_job(followed.job);
}

}  // namespace perdure::cli
