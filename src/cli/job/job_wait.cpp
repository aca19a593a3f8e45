// perdure job wait ID... [--any] | --queue Q
// Ends when the jobs have ended, with the exit code of `run`: of the only one, of the first that
// has ended, or of the first in their order that did not succeed.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/job/chosen_jobs.h"
#include "cli/job/follow.h"
#include "cli/job/job_commands.h"

namespace perdure::cli {
namespace {

constexpr std::string_view not_ended = "scheduled,ready,blocked,waiting,starting,running";
constexpr auto look_again = milliseconds(300);

// The jobs as they are now: an id that does not exist is told at once, and a lost connection is
// not taken for it.
std::optional<ExitCode> find_unknown(Context& context, const std::vector<std::string>& ids) {
    for (const auto& id : ids) {
        const auto known = ask(context.api, context.term, {.target = "/v1/jobs/" + escaped(id)});
        if (!known) return known.code;
    }
    return std::nullopt;
}

ExitCode wait_for_all(Context& context, const std::vector<std::string>& ids) {
    auto code = ExitCode::ok;
    boost::json::array ended;
    for (const auto& id : ids) {
        const auto followed = follow(context, id, {.show_output = false});
        if (followed.how != Followed::How::ended) return followed.code;
        if (code == ExitCode::ok) code = exit_code_of_job(followed.job);
        if (!context.json())
            context.term.say(fmt::format("job {} {}", id, how_it_ended(followed.job)));
        ended.push_back(followed.job);
    }
    if (context.json())
        context.term.print(ids.size() == 1 ? ended[0] : boost::json::value(std::move(ended)));
    return code;
}

// The calls are bounded by the jobs that were named; a lost connection is tried again.
ExitCode wait_for_any(Context& context, const std::vector<std::string>& ids) {
    context.system.catch_interrupts();
    while (true) {
        for (const auto& id : ids) {
            const auto answer = context.api.request({.target = "/v1/jobs/" + escaped(id)});
            if (context.system.interrupted() != Interrupt::none) return ExitCode::detached;
            if (!answer || !answer->ok() || !has(answer->body, "ended_at")) continue;
            if (context.json())
                context.term.print(answer->body);
            else
                context.term.out(id + "\n");
            context.term.say(fmt::format("job {} {}", id, how_it_ended(answer->body)));
            return exit_code_of_job(answer->body);
        }
        context.system.pause(look_again);
    }
}

}  // namespace

ExitCode wait_for_job(Context& context) {
    const auto& args = context.args;
    auto ids = args.all("id");
    if (args.flag("queue") != ids.empty())
        return context.term.usage("which jobs? perdure job wait ID..., or --queue NAME");
    if (args.flag("queue")) {
        auto found = jobs_that_fit(context, not_ended);
        if (found.code != ExitCode::ok) return found.code;
        ids = std::move(found.ids);
        context.term.say(
            fmt::format("{} jobs of queue {} have not ended yet", ids.size(), args.text("queue")));
        if (ids.empty()) return ExitCode::ok;
    } else if (const auto code = find_unknown(context, ids)) {
        return *code;
    }
    return args.flag("any") ? wait_for_any(context, ids) : wait_for_all(context, ids);
}

}  // namespace perdure::cli
