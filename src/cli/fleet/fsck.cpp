// perdure fsck
// perdure fsck --discard TABLE:ROW
// perdure fsck --offline --data DIR
// Exit code 1 if something is wrong.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

constexpr auto online_timeout = hours(1);  // it takes short steps through everything

boost::json::value as_json(const OfflineReport& report) {
    boost::json::array problems;
    for (const auto& finding : report.findings) {
        boost::json::object problem;
        if (!finding.job.empty()) problem["job"] = finding.job;
        problem["what"] = finding.what;
        if (!finding.fix.empty()) problem["fix"] = finding.fix;
        problems.push_back(std::move(problem));
    }
    boost::json::object document;
    document["clean"] = report.findings.empty();
    document["jobs"] = static_cast<std::int64_t>(report.jobs);
    document["attempts"] = static_cast<std::int64_t>(report.attempts);
    document["recoveries"] = static_cast<std::int64_t>(report.recoveries);
    document["problems"] = std::move(problems);
    return document;
}

// What was looked at: an empty database is clean as well.
std::string seen_in(const boost::json::value& document) {
    std::string seen;
    for (const auto* name : {"jobs", "attempts", "recoveries"})
        if (has(document, name))
            seen +=
                fmt::format("{}{} {}", seen.empty() ? ": " : ", ", number_of(document, name), name);
    return seen;
}

ExitCode print(Context& context, const boost::json::value& document) {
    const bool clean = truth_of(document, "clean");
    const auto code = clean ? ExitCode::ok : ExitCode::failed;
    if (context.json()) {
        context.term.print(document);
        return code;
    }
    Table table({"JOB", "PROBLEM"});
    for (const auto& problem : list_of(document, "problems")) {
        auto what = text_of(problem, "what");
        if (has(problem, "fix")) what += "; fix: " + text_of(problem, "fix");
        table.add({text_of(problem, "job"), what});
    }
    for (const auto& row : list_of(document, "damaged"))
        table.add({has(row, "job") ? text_of(row, "job") : "",
                   fmt::format("{}:{} is damaged: {}; fix: {}", text_of(row, "table"),
                               text_of(row, "row"), text_of(row, "what"), text_of(row, "fix"))});
    if (!table.empty()) context.term.out(table.text(context.term));
    context.term.say(
        clean
            ? "clean" + seen_in(document)
            : "something is wrong: keep a copy of the data directory; what has a fix can be mended,"
              " the rest should be reported");
    if (number_of(document, "repairs") > 0)
        context.term.say(fmt::format("{} wake-ups were made by a sweep: please report it",
                                     number_of(document, "repairs")));
    return code;
}

// The running server removes it, and frees what it kept.
ExitCode discard_row(Context& context) {
    const auto name = context.args.text("discard");
    const auto colon = name.find(':');
    boost::json::object body;
    body["table"] = name.substr(0, colon);
    body["row"] = colon == std::string::npos ? "" : name.substr(colon + 1);
    const auto asked =
        ask(context.api, context.term,
            {.method = "POST", .target = "/v1/fsck/discard", .body = boost::json::serialize(body)});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
    } else {
        context.term.say(fmt::format("{} is removed, and what it kept is free", name));
    }
    return ExitCode::ok;
}

}  // namespace

ExitCode check_store(Context& context) {
    if (!context.args.text("discard").empty()) return discard_row(context);
    if (context.args.flag("offline")) {
        const auto report = context.backstage.fsck_offline(context.configuration.config);
        if (!report) return context.term.fail(report.error());
        return print(context, as_json(*report));
    }
    context.term.passing("checking everything that is stored ...");
    const auto asked =
        ask(context.api, context.term, {.target = "/v1/fsck", .timeout = online_timeout});
    return asked ? print(context, *asked.body) : asked.code;
}

ExitCode migrate_store(Context& context) {
    const auto log = context.args.flag("without-log") ? MissingLog::accept : MissingLog::refuse;
    const auto done = context.backstage.migrate(context.configuration.config, log);
    if (!done) return context.term.fail(done.error());
    if (context.json()) {
        boost::json::object document;
        document["done"] = *done;
        context.term.print(boost::json::value(std::move(document)));
    } else {
        context.term.say(*done);
    }
    return ExitCode::ok;
}

}  // namespace perdure::cli
