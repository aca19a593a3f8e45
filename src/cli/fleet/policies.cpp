// perdure policy list
// perdure policy explain JOB | --queue Q --kind K | --policy NAME, each with --worker NAME
// What would happen now for every cause, as the server itself would decide it.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

constexpr std::size_t causes_shown = 44;

std::string count_of(const boost::json::value& line, std::string_view name) {
    const auto& count = member(line, name);
    if (count.is_string()) return text_of(line, name);
    return fmt::format("{}", number_of(line, name));
}

std::string condition_of(const boost::json::value& line) {
    std::string text;
    if (has(line, "exit_codes")) text += " with code " + joined_of(line, "exit_codes");
    if (has(line, "text")) text += fmt::format(" saying \"{}\"", text_of(line, "text"));
    return text;
}

std::string wait_text(const boost::json::value& line) {
    const auto next = text_of(line, "next");
    if (next == "now") return "again now";
    if (next == "later") return "again in " + spoken_of(line, "wait");
    if (next == "at") return "again at the time it names";
    return next;
}

Cell next_cell(const boost::json::value& line) {
    const auto next = text_of(line, "next");
    auto text = wait_text(line);
    if (truth_of(line, "another_worker")) text += ", elsewhere";
    if (truth_of(line, "may_have_run")) text += ", may have run";
    const bool again = next == "now" || next == "later" || next == "at";
    return Cell(text, again ? Colour::plain : colour_of_state(next));
}

// A long list of causes goes on in lines of its own; only the last column may be cut.
std::vector<std::string> cause_lines(const boost::json::value& line) {
    std::vector<std::string> lines(1);
    const auto& causes = list_of(line, "causes");
    for (std::size_t i = 0; i < causes.size(); ++i) {
        auto word = std::string(causes[i].is_string() ? causes[i].as_string().c_str() : "?");
        if (i + 1 < causes.size()) word += ",";
        if (!lines.back().empty() && lines.back().size() + word.size() >= causes_shown)
            lines.emplace_back();
        lines.back() += (lines.back().empty() ? "" : " ") + word;
    }
    lines.back() += condition_of(line);
    return lines;
}

std::string after_that(const boost::json::value& line) {
    const auto left = count_of(line, "left");
    if (left == "always") return "";
    return left == "0" ? "" : fmt::format("then {}", text_of(line, "then"));
}

void add_line(Table& table, const boost::json::value& line) {
    const auto causes = cause_lines(line);
    for (std::size_t i = 0; i + 1 < causes.size(); ++i)
        table.add({Cell(fitted(causes[i])), "", "", "", "", ""});
    table.add({Cell(fitted(causes.back())), next_cell(line), count_of(line, "used"),
               count_of(line, "left"), after_that(line), Cell(text_of(line, "rule"), Colour::dim)});
}

std::string target_of(const Args& args) {
    const auto id = args.one("id");
    std::string target = id ? fmt::format("/v1/jobs/{}/policy", escaped(*id)) : "/v1/policy";
    char separator = '?';
    for (const auto* name : {"queue", "kind", "policy", "worker"}) {
        if (id && name != std::string_view("worker")) continue;
        const auto given = args.one(name);
        if (!given) continue;
        target += fmt::format("{}{}={}", separator, name, escaped(*given));
        separator = '&';
    }
    return target;
}

std::string used_by(const boost::json::value& body, const std::string& name) {
    std::string text = text_of(body, "server") == name ? "server" : "";
    for (const std::string_view level : {"queues", "kinds", "workers"}) {
        const auto* of = member(body, level).if_object();
        if (!of) continue;
        for (const auto& entry : *of) {
            const auto& policy = entry.value();
            if (!policy.is_string() || policy.as_string() != name) continue;
            const std::string key(entry.key().data(), entry.key().size());
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                                level.substr(0, level.size() - 1), key);
        }
    }
    return text;
}

// "policy patient of worker gpu-7, …", or who else chose the one that judges on this worker.
std::string head_of(const boost::json::value& body) {
    const auto from = text_of(body, "from");
    const bool of_worker = truth_of(body, "by_worker_policy") || from == "worker";
    auto head = "policy " + policy_of(body);
    if (of_worker) head += " of worker " + text_of(body, "worker");
    head += ", effects " + text_of(body, "effects");
    if (has(body, "from") && !of_worker) head += ", from the " + from;
    if (has(body, "worker") && !of_worker) head += ", on worker " + text_of(body, "worker");
    if (!has(body, "id")) return head;
    return fmt::format("job {} is {}: {}", text_of(body, "id"), text_of(body, "state"), head);
}

// Where the table would be another one.
std::string elsewhere(const boost::json::value& body) {
    const auto* workers = member(body, "workers").if_object();
    if (!workers) return "";
    std::string text;
    for (const auto& entry : *workers) {
        const std::string name(entry.key().data(), entry.key().size());
        if (has(body, "worker") && text_of(body, "worker") == name) continue;
        const auto line =
            fmt::format("on worker {}: {}", name, text_of(member(body, "workers"), name));
        text += "\n" + fitted(line);
    }
    return text.empty() ? "" : text + "\n";
}

}  // namespace

ExitCode explain_policy(Context& context) {
    const auto asked = ask(context.api, context.term, {.target = target_of(context.args)});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    const auto& body = *asked.body;
    const auto head = head_of(body);
    Table table({"IF IT ENDS BY", "THE JOB IS", "USED", "LEFT", "", "RULE"});
    for (const auto& line : list_of(body, "lines")) add_line(table, line);
    context.term.out(fitted(head) + "\n\n" + table.text(context.term) + elsewhere(body));
    return ExitCode::ok;
}

ExitCode list_policies(Context& context) {
    const auto asked = ask(context.api, context.term, {.target = "/v1/policies"});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"POLICY", "RULES", "ELSE", "USED BY"});
    for (const auto& policy : list_of(*asked.body, "policies")) {
        const auto name = text_of(policy, "name");
        const bool built_in = truth_of(policy, "built_in");
        const auto rules =
            built_in ? std::string("built in") : fmt::format("{}", list_of(policy, "rules").size());
        table.add(
            {name, rules, built_in ? "" : text_of(policy, "base"), used_by(*asked.body, name)});
    }
    context.term.out(table.text(context.term));
    return ExitCode::ok;
}

}  // namespace perdure::cli
