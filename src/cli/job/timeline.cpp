#include "cli/job/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/human.h"
#include "cli/table.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

// A line of a policy needs to be told whose: the job itself may have chosen another one.
std::string deciding_rule(const boost::json::value& attempt) {
    auto rule = text_of(attempt, "rule");
    const bool of_some_policy = rule.starts_with("custom/") || rule.starts_with("default/") ||
                                rule.starts_with("never/") || rule.starts_with("forever/");
    if (of_some_policy && truth_of(attempt, "by_worker_policy")) rule += ", policy of its worker";
    return rule;
}

std::string end_of(const boost::json::value& attempt) {
    std::string text = text_of(attempt, "cause");
    if (has(attempt, "exit_code")) text += " " + text_of(attempt, "exit_code");
    if (has(attempt, "signal")) text += " " + text_of(attempt, "signal");
    if (truth_of(attempt, "succeeded")) text = "succeeded";
    const auto ran = text_of(attempt, "ran");
    if (ran == "no") text += ", did not run";
    if (ran == "maybe") text += ", may have run";
    if (has(attempt, "reported") && !truth_of(attempt, "reported")) text += ", presumed";
    const auto& evidence = member(attempt, "evidence");
    if (has(evidence, "ran_for")) text += ", ran for " + spoken_of(evidence, "ran_for");
    if (has(evidence, "cpu_user")) text += ", used " + usage_of(evidence);
    if (has(evidence, "detail")) text += ": " + text_of(evidence, "detail");
    if (has(attempt, "rule")) text += fmt::format("  [{}]", deciding_rule(attempt));
    return text;
}

std::string owner_of(const boost::json::value& attempt) {
    if (has(attempt, "worker")) return " by " + text_of(attempt, "worker");
    const auto& evidence = member(attempt, "evidence");
    return has(evidence, "host") ? " on " + text_of(evidence, "host") : "";
}

void add_attempt(const boost::json::value& attempt, std::vector<Moment>& moments) {
    const auto number = number_of(attempt, "epoch");
    const auto add = [&](std::string_view when, std::string_view kind, std::string what) {
        if (const auto at = time_of(attempt, when)) moments.push_back({*at, kind, std::move(what)});
    };
    add("claimed_at", "lease", fmt::format("attempt {} claimed{}", number, owner_of(attempt)));
    add("started_at", "process", fmt::format("attempt {} started", number));
    add("ended_at", "process", fmt::format("attempt {} {}", number, end_of(attempt)));
}

std::string story_of(const boost::json::value& entry) {
    auto rules = text_of(entry, "seen_by");
    if (text_of(entry, "rule") != rules) rules += ", " + text_of(entry, "rule");
    return fmt::format("seen by {}: {}  [{}]", text_of(entry, "detector"), text_of(entry, "story"),
                       rules);
}

}  // namespace

std::vector<Moment> timeline(const boost::json::value& job) {
    std::vector<Moment> moments;
    const auto add = [&](std::optional<WallTime> at, std::string_view kind, std::string what) {
        if (at) moments.push_back({*at, kind, std::move(what)});
    };
    const auto submitter = text_of(member(job, "submitted_by"), "name");
    add(time_of(job, "submitted_at"), "queue",
        submitter.empty() ? "submitted" : "submitted by " + submitter);
    for (const auto& act : list_of(job, "acts"))
        add(time_of(act, "at"), "person",
            fmt::format("{} by {}", text_of(act, "act"),
                        has(act, "by") ? text_of(act, "by") : "somebody"));
    for (const auto& attempt : list_of(job, "attempts")) add_attempt(attempt, moments);
    for (const auto& entry : list_of(job, "recoveries"))
        add(time_of(entry, "at"), "recovery", story_of(entry));
    add(time_of(job, "due_at"), "queue", "due");
    if (has(job, "ended_at")) {
        auto what = text_of(job, "state");
        if (truth_of(job, "may_have_run")) what += ", may have run";
        if (has(job, "rule")) what += fmt::format("  [{}]", text_of(job, "rule"));
        add(time_of(job, "ended_at"), "queue", what);
    }
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.at < b.at; });
    return moments;
}

std::string timeline_text(const boost::json::value& job, const UtcOffset& offset) {
    std::string text = "\n";
    const auto moments = timeline(job);
    for (const auto& moment : moments) {
        const auto passed = moment.at - moments.front().at;
        text += fmt::format("{}  {:>12}  {:<8}  {}\n", local_text(moment.at, offset),
                            "+" + spoken(passed), moment.kind, fitted(moment.what));
    }
    return text;
}

}  // namespace perdure::cli
