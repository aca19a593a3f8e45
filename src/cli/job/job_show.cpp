// perdure job show ID
#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/job/follow.h"
#include "cli/job/job_commands.h"
#include "cli/job/timeline.h"
#include "cli/table.h"
#include "wire/text_size.h"

namespace perdure::cli {
namespace {

struct Line {
    std::string_view label;
    std::string_view field;
};
constexpr std::array plain_lines = {
    Line{"queue", "queue"},       Line{"share", "share"},
    Line{"priority", "priority"}, Line{"effects", "effects"},
    Line{"key", "key"},           Line{"worker", "worker"},
    Line{"cause", "cause"},       Line{"exit code", "exit_code"},
    Line{"signal", "signal"},     Line{"killing for", "kill_ordered"},
    Line{"retry of", "retry_of"}, Line{"idempotency", "idempotency_key"},
};

std::string line(std::string_view label, std::string_view text) {
    if (text.empty()) return "";
    return fmt::format("{:<12}{}\n", label, fitted(text));
}

std::string heading(const Terminal& term, const boost::json::value& job) {
    const auto state = text_of(job, "state");
    return fmt::format("{}  {}  {}\n", term.paint(text_of(job, "id"), Colour::bold),
                       term.paint(state, colour_of_state(state)), fitted(what_it_does(job)));
}

// "512MiB of memory, 150 % of a core, 64 processes"
std::string resources_of(const boost::json::value& job) {
    const auto& asked = member(job, "resources");
    std::string text;
    const auto add = [&](std::string_view field, std::string_view unit, std::string amount) {
        if (!has(asked, field)) return;
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", amount, unit);
    };
    if (!has(job, "resources")) return text;
    add("memory", " of memory", size_text(static_cast<std::uint64_t>(number_of(asked, "memory"))));
    add("cpu_percent", " % of a core", text_of(asked, "cpu_percent"));
    add("processes", " processes", text_of(asked, "processes"));
    return text;
}

std::string facts(const boost::json::value& job) {
    std::string text;
    for (const auto& each : plain_lines) text += line(each.label, text_of(job, each.field));
    text += line("submitter", submitter_of(job));
    if (has(job, "policy")) text += line("policy", policy_of(job));
    text += line("limits", joined_of(job, "limits"));
    const auto& permit = member(job, "blocked_on");
    if (has(job, "blocked_on"))
        text += line("blocked on", text_of(permit, "kind") + " " + text_of(permit, "name"));
    if (truth_of(job, "held")) text += line("held", "by a person; let it go on: job unhold");
    if (truth_of(job, "presumed_lost"))
        text += line("presumed", "lost; its last attempt may still come back");
    text += line("progress", progress_of(job));
    text += line("may use", resources_of(job));
    if (has(job, "may_still_run"))
        text += line("may run on", text_of(member(job, "may_still_run"), "worker"));
    text += line("damaged", text_of(job, "damaged"));
    text += line("remedy", text_of(job, "remedy"));
    text += line("due in", spoken_of(job, "due_in"));
    const auto& attempts = list_of(job, "attempts");
    if (!attempts.empty()) text += line("output", undelivered_of(attempts.back()));
    if (has(job, "result")) text += line("result", boost::json::serialize(member(job, "result")));
    return text;
}

std::string relations(const boost::json::value& job) {
    std::string text;
    const auto& inside = member(job, "parent");
    if (has(job, "parent"))
        text += line("inside job", fmt::format("{}, attempt {}", text_of(inside, "job"),
                                               number_of(inside, "epoch")));
    const auto& parent = member(job, "callback_of");
    if (has(job, "callback_of")) text += line("callback of", text_of(parent, "job"));
    for (const auto& other : list_of(job, "awaited")) {
        if (has(job, "callback_of") && text_of(other, "job") == text_of(parent, "job")) continue;
        const auto ended = text_of(other, "ended_as");
        text +=
            line("after", fmt::format("{} ({}): {}", text_of(other, "job"), text_of(other, "on"),
                                      ended.empty() ? "has not ended" : ended));
    }
    for (const auto& callback : list_of(job, "callbacks")) {
        std::string made;
        for (const auto& each : list_of(callback, "made")) made += " " + text_of(each, "job");
        text += line("on " + text_of(callback, "on"),
                     fmt::format("{}{}", what_it_does(callback), made.empty() ? "" : " ->" + made));
    }
    return text;
}

std::string last_lines(const boost::json::value& job) {
    const auto& attempts = list_of(job, "attempts");
    if (attempts.empty() || text_of(job, "state") == "succeeded") return "";
    const auto lines = text_of(member(attempts.back(), "evidence"), "last_lines");
    if (lines.empty()) return "";
    std::string text = "\nlast output:\n  ";
    for (const char c : lines) {
        const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
        text += control ? '?' : c;
        if (c == '\n') text += "  ";
    }
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    return text + "\n";
}

void say_earlier(Context& context, std::string_view id, std::string_view before) {
    context.term.say(
        fmt::format("there are earlier attempts: perdure job show {} --before {}", id, before));
}

// The attempts before one, a page of them.
ExitCode show_attempts(Context& context, std::string_view id, std::string_view before) {
    const auto target =
        fmt::format("/v1/jobs/{}/attempts?before={}&limit=100", escaped(id), escaped(before));
    const auto asked = ask(context.api, context.term, {.target = target});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    context.term.out(timeline_text(*asked.body, context.offset()));
    if (has(*asked.body, "next")) say_earlier(context, id, text_of(*asked.body, "next"));
    return ExitCode::ok;
}

}  // namespace

ExitCode show_job(Context& context) {
    const auto id = context.args.text("id");
    if (const auto before = context.args.one("before")) return show_attempts(context, id, *before);
    const auto asked = ask(context.api, context.term, {.target = "/v1/jobs/" + escaped(id)});
    if (!asked) return asked.code;
    const auto& job = *asked.body;
    if (context.json()) {
        context.term.print(job);
        return ExitCode::ok;
    }
    context.term.out(heading(context.term, job) + facts(job) + relations(job) +
                     timeline_text(job, context.offset()) + last_lines(job));
    if (has(job, "attempts_next")) say_earlier(context, id, text_of(job, "attempts_next"));
    if (!has(job, "ended_at") && !has(job, "damaged"))
        context.term.say(fmt::format("what it waits for: perdure why {}", id));
    if (text_of(job, "state") == "quarantined" && !truth_of(job, "discarded"))
        context.term.say(fmt::format("it needs a person: perdure quarantine show {}", id));
    return ExitCode::ok;
}

}  // namespace perdure::cli
