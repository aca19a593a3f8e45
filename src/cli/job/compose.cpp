// perdure serial 'COMMAND'... [--then 'COMMAND']     each when the one before has succeeded
// perdure parallel 'COMMAND'... [--then 'COMMAND']   all at once
// One batch, all or none; `then` runs when all have ended, whatever way, and gets all results.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/job/job_commands.h"
#include "cli/job/job_options.h"
#include "cli/job/relation_options.h"
#include "cli/job/submitting.h"
#include "wire/json_reader.h"

namespace perdure::cli {
namespace {

enum class Order { serial, parallel };

struct Composed {
    boost::json::array parts;
    std::optional<boost::json::object> then;
};

// A list of jobs, or {"jobs": [...], "then": {...}}.
Result<Composed> read_composed(Context& context, const std::string& path) {
    auto text = context.system.read_file(path);
    if (!text) return text.error();
    boost::json::value document;
    if (const auto parse_error = parse_strict(*text, document))
        return error(Errc::invalid,
                     fmt::format("{}: {} (at {})", path, parse_error->what, parse_error->path));
    Composed composed;
    if (auto* list = document.if_array()) {
        composed.parts = std::move(*list);
        return composed;
    }
    if (!list_of(document, "jobs").empty()) composed.parts = list_of(document, "jobs");
    if (const auto* then = member(document, "then").if_object()) composed.then = *then;
    return composed;
}

Result<Composed> compose(Context& context) {
    const auto& args = context.args;
    Composed composed;
    if (const auto file = args.one("file")) {
        auto read = read_composed(context, *file);
        if (!read) return read.error();
        composed = std::move(*read);
    }
    CallersFolder folder(context);
    boost::json::object of_all;
    of_all["queue"] = args.one("queue").value_or("default");
    const auto job_of = [&](const std::string& text) {
        auto job = job_of_text(text);
        if (!job || is_job_object(text)) return job;
        if (auto given = folder.give(*job, &of_all); !given)
            return Result<boost::json::object>(given.error());
        return job;
    };
    for (const auto& text : args.all("command")) {
        auto job = job_of(text);
        if (!job) return job.error();
        composed.parts.push_back(std::move(*job));
    }
    if (const auto then = args.one("then")) {
        auto job = job_of(*then);
        if (!job) return job.error();
        composed.then = std::move(*job);
    }
    return composed;
}

void wait_for(boost::json::object& job, std::size_t index, const char* on) {
    boost::json::object after;
    after["index"] = index;
    after["on"] = on;
    auto& others = job["after"];
    if (!others.is_array()) others = boost::json::array();
    others.as_array().push_back(std::move(after));
}

// Everything as jobs of one batch, which name each other by their places in it.
Result<boost::json::array> batch_of(Composed composed, Order order, const std::string& queue) {
    auto jobs = std::move(composed.parts);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto* job = jobs[i].if_object();
        if (!job) return error(Errc::invalid, fmt::format("job {} is no object", i + 1));
        if (order == Order::serial && i > 0) wait_for(*job, i - 1, "success");
    }
    if (composed.then) {
        for (std::size_t i = 0; i < jobs.size(); ++i) wait_for(*composed.then, i, "end");
        jobs.push_back(std::move(*composed.then));
    }
    for (auto& job : jobs)
        if (!queue.empty() && !job.as_object().contains("queue")) job.as_object()["queue"] = queue;
    return jobs;
}

ExitCode submit_composed(Context& context, Order order) {
    auto& term = context.term;
    auto composed = compose(context);
    if (!composed) return not_made(context, composed.error());
    if (composed->parts.empty())
        return term.usage("what shall be run? perdure parallel './a' './b' --then './join'");
    auto jobs = batch_of(std::move(*composed), order, context.args.text("queue"));
    if (!jobs) return term.fail(jobs.error());
    const auto key =
        context.args.one("idempotency-key").value_or(new_idempotency_key(context.system));
    add_keys(*jobs, key);
    boost::json::object body;
    body["jobs"] = std::move(*jobs);
    auto submitted = submit_surely(context, boost::json::serialize(body), key, SpecSource::file);
    return submitted.body ? print_submitted(context, std::move(*submitted.body), key)
                          : submitted.code;
}

}  // namespace

ExitCode submit_serial(Context& context) { return submit_composed(context, Order::serial); }

ExitCode submit_parallel(Context& context) { return submit_composed(context, Order::parallel); }

}  // namespace perdure::cli
