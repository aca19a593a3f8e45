// perdure progress|checkpoint|begin|verdict|result: what a running command tells about itself
// (docs/protocol/job-socket.md). `begin` and `checkpoint` return 0 only after a server has
// committed them (O10); otherwise 75, and whatever they were to protect must not be done.
#include <fmt/format.h>

#include <array>

#include "cli/local/local_commands.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

constexpr std::size_t body_max = std::size_t{1} << 20;

ExitCode told(Context& context, std::string_view answer) {
    if (answer == "ok") return ExitCode::ok;
    constexpr std::string_view not_committed = "error not_committed ";
    constexpr std::string_view invalid = "error invalid ";
    if (answer.starts_with(not_committed)) {
        context.term.say(fmt::format("not committed: {}", answer.substr(not_committed.size())));
        return ExitCode::temporary;
    }
    if (answer.starts_with(invalid)) return context.term.usage(answer.substr(invalid.size()));
    context.term.say("the job's socket gave an answer that cannot be understood");
    return ExitCode::temporary;
}

ExitCode send(Context& context, const std::string& request) {
    const auto& environment = context.system.environment();
    const auto socket = environment.find("PERDURE_SOCKET");
    if (socket == environment.end())
        return context.term.usage(
            "PERDURE_SOCKET is not set: this command works inside a job only");
    const auto answer = context.backstage.ask_job_socket(socket->second, request);
    if (!answer) {
        // Nobody knows whether it was committed: for the caller that means it was not.
        context.term.say(answer.error().what);
        return ExitCode::temporary;
    }
    return told(context, *answer);
}

ExitCode send_with_body(Context& context, std::string_view verb) {
    auto body = context.system.read_file(context.args.one("file").value_or("-"));
    if (!body) return context.term.fail(body.error());
    if (body->size() > body_max)
        return context.term.usage(fmt::format("a {} has at most {} bytes, this one has {}", verb,
                                              body_max, body->size()));
    return send(context, fmt::format("{} {}\n{}", verb, body->size(), *body));
}

bool is_one_line(std::string_view text) {
    return text.size() < 4000 && text.find_first_of("\r\n") == std::string_view::npos;
}

}  // namespace

ExitCode send_progress(Context& context) {
    auto line = "progress " + context.args.text("percent");
    for (const auto& word : context.args.all("text")) line += " " + word;
    if (!is_one_line(line)) return context.term.usage("the text must be one line of 4000 bytes");
    return send(context, line + "\n");
}

ExitCode save_checkpoint(Context& context) { return send_with_body(context, "checkpoint"); }
ExitCode send_begin(Context& context) { return send(context, "begin\n"); }
ExitCode send_result(Context& context) { return send_with_body(context, "result"); }

ExitCode send_verdict(Context& context) {
    const auto verdict = context.args.text("kind");
    auto time = context.args.text("time");
    if (verdict == "at" && time.empty())
        return context.term.usage("when? perdure verdict at \"tomorrow 7:30\"");
    if (!time.empty()) {
        const auto at = read_person_time(time, context.system.now(), context.offset());
        if (!at) return context.term.usage(at.error().what);
        time = time_text(*at);
    }
    const auto line = time.empty() ? "verdict " + verdict : "verdict " + verdict + " " + time;
    if (!is_one_line(line)) return context.term.usage("a verdict is one line");
    return send(context, line + "\n");
}

}  // namespace perdure::cli
