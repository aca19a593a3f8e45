#include "cli/job/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/human.h"

namespace perdure::cli {
namespace {

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
    if (has(evidence, "detail")) text += ": " + text_of(evidence, "detail");
    if (has(attempt, "rule")) text += fmt::format("  [{}]", text_of(attempt, "rule"));
    return text;
}

std::string owner_of(const boost::json::value& attempt) {
    if (has(attempt, "worker")) return " by " + text_of(attempt, "worker");
    const auto& evidence = member(attempt, "evidence");
    return has(evidence, "host") ? " on " + text_of(evidence, "host") : "";
}

}  // namespace

std::vector<Moment> timeline(const boost::json::value& job) {
    std::vector<Moment> moments;
    const auto add = [&](std::optional<WallTime> at, std::string what) {
        if (at) moments.push_back({*at, std::move(what)});
    };
    add(time_of(job, "submitted_at"), "submitted");
    for (const auto& attempt : list_of(job, "attempts")) {
        const auto number = number_of(attempt, "epoch");
        add(time_of(attempt, "claimed_at"),
            fmt::format("attempt {} claimed{}", number, owner_of(attempt)));
        add(time_of(attempt, "ended_at"), fmt::format("attempt {} {}", number, end_of(attempt)));
    }
    add(time_of(job, "due_at"), "due");
    if (has(job, "ended_at")) {
        auto what = text_of(job, "state");
        if (truth_of(job, "may_have_run")) what += ", may have run";
        if (has(job, "rule")) what += fmt::format("  [{}]", text_of(job, "rule"));
        add(time_of(job, "ended_at"), what);
    }
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.at < b.at; });
    return moments;
}

}  // namespace perdure::cli
