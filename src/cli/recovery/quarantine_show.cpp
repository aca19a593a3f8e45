// perdure quarantine show ID
// The evidence about a job that needs a person: each attempt, how it ended, what it printed last.
#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/human.h"
#include "cli/recovery/recovery_commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

constexpr std::size_t lines_shown = 50;

std::string indented_line(std::string_view label, std::string_view text) {
    return text.empty() ? "" : fmt::format("  {:<12}{}\n", label, fitted(text));
}

std::string last_lines(std::string_view printed) {
    std::vector<std::string_view> lines;
    while (!printed.empty()) {
        const auto end = printed.find('\n');
        lines.push_back(printed.substr(0, end));
        printed.remove_prefix(end == std::string_view::npos ? printed.size() : end + 1);
    }
    if (lines.empty()) return "";
    const auto first = lines.size() > lines_shown ? lines.size() - lines_shown : 0;
    std::string text = "  last output\n";
    for (std::size_t i = first; i < lines.size(); ++i)
        text += fmt::format("    {}\n", fitted(lines[i]));
    return text;
}

std::string peak_memory(const boost::json::value& evidence) {
    const auto bytes = number_of(evidence, "peak_memory");
    return bytes > 0 ? spoken_size(static_cast<std::uint64_t>(bytes)) : "";
}

std::string attempt_text(const boost::json::value& attempt) {
    const auto& evidence = member(attempt, "evidence");
    auto text = fmt::format("\nattempt {}\n", number_of(attempt, "epoch"));
    text += indented_line("cause", text_of(attempt, "cause"));
    text += indented_line("signal", text_of(attempt, "signal"));
    text += indented_line("exit code", text_of(attempt, "exit_code"));
    text += indented_line("ran", text_of(attempt, "ran"));
    text += indented_line("worker", text_of(attempt, "worker"));
    text += indented_line("host", text_of(evidence, "host"));
    text += indented_line("claimed", text_of(attempt, "claimed_at"));
    text += indented_line("ended", text_of(attempt, "ended_at"));
    text += indented_line("ran for", spoken_of(evidence, "ran_for"));
    text += indented_line("peak memory", peak_memory(evidence));
    text += indented_line("used", usage_of(evidence));
    text += indented_line("detail", text_of(evidence, "detail"));
    text += indented_line("rule", text_of(attempt, "rule"));
    if (has(attempt, "late_result")) {
        const auto& late = member(attempt, "late_result");
        const auto end = truth_of(late, "succeeded") ? "succeeded" : text_of(late, "cause");
        text += indented_line("late result", end + ": it came after the end, and can be accepted");
    }
    return text + last_lines(text_of(evidence, "last_lines"));
}

std::string still_running(const boost::json::value& job) {
    const auto& old = member(job, "may_still_run");
    if (!has(job, "may_still_run")) return "";
    return fmt::format("attempt {} may still run on worker {}\n", number_of(old, "epoch"),
                       text_of(old, "worker"));
}

}  // namespace

ExitCode show_quarantined(Context& context) {
    const auto id = context.args.text("id");
    const auto asked = ask(context.api, context.term, {.target = "/v1/jobs/" + escaped(id)});
    if (!asked) return asked.code;
    const auto& job = *asked.body;
    if (context.json()) {
        context.term.print(job);
        return ExitCode::ok;
    }
    const auto state = text_of(job, "state");
    std::string text =
        fmt::format("{}  {}  {}\n", context.term.paint(id, Colour::bold),
                    context.term.paint(state, colour_of_state(state)), fitted(what_it_does(job)));
    if (has(job, "rule")) text += fmt::format("decided by {}\n", text_of(job, "rule"));
    if (truth_of(job, "may_have_run")) text += "it may have done what it was asked for\n";
    text += still_running(job);
    for (const auto& attempt : list_of(job, "attempts")) text += attempt_text(attempt);
    context.term.out(text);
    if (state != "quarantined")
        context.term.say("it is not in quarantine");
    else if (truth_of(job, "discarded"))
        context.term.say("somebody has dealt with it");
    else
        context.term.say(
            fmt::format("run it again: perdure quarantine release {0}; take a late result: "
                        "perdure quarantine accept {0}; leave it: perdure quarantine discard {0}",
                        id));
    return ExitCode::ok;
}

}  // namespace perdure::cli
