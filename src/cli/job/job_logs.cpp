// perdure logs [-f] ID
// What an attempt has printed, byte for byte.
#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <charconv>

#include "cli/answer.h"
#include "cli/job/follow.h"
#include "cli/job/job_commands.h"

namespace perdure::cli {
namespace {

std::optional<std::int64_t> attempt_wanted(const Args& args) {
    const auto text = args.text("attempt");
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1)
        return std::nullopt;
    return number;
}

ExitCode follow_logs(Context& context, const std::string& id, std::int64_t newest) {
    const auto first = attempt_wanted(context.args).value_or(std::max<std::int64_t>(newest, 1));
    const auto followed = follow(context, id, {.first_attempt = first});
    if (followed.how == Followed::How::detached) return ExitCode::ok;
    if (followed.how == Followed::How::ended) {
        say_what_is_missing(context.term, followed.job);
        context.term.say(fmt::format("job {} {}", id, how_it_ended(followed.job)));
    }
    return followed.code;
}

ExitCode print_logs(Context& context, const boost::json::value& job, std::int64_t attempt) {
    const auto id = text_of(job, "id");
    const auto target = fmt::format("/v1/jobs/{}/logs?epoch={}", escaped(id), attempt);
    std::string all;
    // Pieces of a mebibyte, until there is no more.
    for (std::size_t offset = 0;;) {
        auto piece = context.api.request({.target = fmt::format("{}&offset={}", target, offset)});
        if (!piece) return unreachable(context.term, context.api, piece.error());
        if (!piece->ok()) return context.term.fail(piece->refusal, piece->path);
        if (piece->text.empty()) break;
        offset += piece->text.size();
        if (context.json())
            all += piece->text;
        else
            context.term.out(piece->text);
    }
    if (context.json()) {
        boost::json::object document;
        document["id"] = id;
        document["epoch"] = attempt;
        document["text"] = all;
        context.term.print(boost::json::value(std::move(document)));
    }
    if (attempt >= number_of(job, "attempts_next")) {
        say_what_is_missing(context.term, job, attempt);
        return ExitCode::ok;
    }
    // It is too old to be shown with the job.
    const auto page =
        fmt::format("/v1/jobs/{}/attempts?before={}&limit=1", escaped(id), attempt + 1);
    const auto asked = ask(context.api, context.term, {.target = page});
    if (asked) say_what_is_missing(context.term, *asked.body, attempt);
    return asked.code;
}

}  // namespace

ExitCode show_logs(Context& context) {
    auto& term = context.term;
    const auto& args = context.args;
    if (args.flag("attempt") && !attempt_wanted(args))
        return term.usage("--attempt wants a number from 1 on; perdure job show ID lists them");
    if (args.flag("follow") && context.json())
        return term.usage("--follow and --json do not go together: the end is not known");
    const auto id = args.text("id");
    const auto asked = ask(context.api, term, {.target = "/v1/jobs/" + escaped(id)});
    if (!asked) return asked.code;
    const auto newest = number_of(*asked.body, "epoch");
    if (args.flag("follow")) return follow_logs(context, id, newest);
    if (newest == 0) {
        term.say(fmt::format("job {} is {} and has not run yet; wait for it: perdure logs -f {}",
                             id, text_of(*asked.body, "state"), id));
        return ExitCode::ok;
    }
    return print_logs(context, *asked.body, attempt_wanted(args).value_or(newest));
}

}  // namespace perdure::cli
