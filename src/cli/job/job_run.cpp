// perdure run [OPTIONS] -- COMMAND...
// Submits, shows the output as it comes, waits, and ends as the job has ended.
#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/job/follow.h"
#include "cli/job/job_commands.h"
#include "cli/job/job_options.h"
#include "cli/job/submitting.h"

namespace perdure::cli {

ExitCode run_job(Context& context) {
    auto& term = context.term;
    if (context.args.rest.empty() && !context.args.flag("kind"))
        return term.usage("what shall be run? Put it after two dashes: perdure run -- echo hello");
    const bool reads_it = context.args.text("file") == "-" || context.args.text("env-file") == "-";
    if (context.system.has_input() && !reads_it && !context.args.flag("no-input"))
        term.say(
            "what lies on standard input is not given to the job, which reads /dev/null; put "
            "it into a file, and say -n to hear nothing of this");
    auto job = job_from(context);
    if (!job) return not_made(context, job.error());
    const auto key =
        context.args.one("idempotency-key").value_or(new_idempotency_key(context.system));
    set_key(*job, key);

    const auto submitted =
        submit_surely(context, boost::json::serialize(*job), key, SpecSource::options);
    if (!submitted.body) return submitted.code;
    const auto id = text_of(*submitted.body, "id");
    context.system.remember_job(id);
    if (!context.args.flag("quiet")) term.say(fmt::format("job {}", id));

    const bool show_output = !context.json();
    const auto followed = follow(context, id, {.show_output = show_output, .owner = true});
    if (followed.how != Followed::How::ended) return followed.code;
    if (context.json()) term.print(followed.job);
    const auto code = exit_code_of_job(followed.job);
    if (code != ExitCode::ok) {
        term.say(fmt::format("job {} {}", id, how_it_ended(followed.job)));
        term.say(fmt::format("what happened: perdure job show {}", id));
    }
    if (context.json() || !say_what_is_missing(term, followed.job)) return code;
    // Somebody reads a file or a pipe, who sees no sentence.
    const bool is_read_by_a_program = term.look().width == 0;
    return code == ExitCode::ok && is_read_by_a_program ? ExitCode::output_missing : code;
}

}  // namespace perdure::cli
