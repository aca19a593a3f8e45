// perdure submit [OPTIONS] -- COMMAND...
// perdure submit --file jobs.json
// Prints the id of each job on standard output. Repeating it after a failure is safe: see
// submitting.h.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/job/job_commands.h"
#include "cli/job/job_options.h"
#include "cli/job/submitting.h"
#include "wire/json_reader.h"

namespace perdure::cli {
namespace {

// One object, a list, or {"jobs": [...]}: what the API takes, and a list besides.
Result<boost::json::array> jobs_of(boost::json::value document) {
    if (auto* list = document.if_array()) return std::move(*list);
    auto* object = document.if_object();
    if (!object) return error(Errc::invalid, "a file of jobs is an object or a list of objects");
    auto* jobs = object->if_contains("jobs");
    if (!jobs) return boost::json::array{std::move(document)};
    if (!jobs->is_array()) return error(Errc::invalid, "$.jobs must be a list");
    return std::move(jobs->as_array());
}

Result<boost::json::array> read_jobs(Context& context, const std::string& path) {
    auto text = context.system.read_file(path);
    if (!text) return text.error();
    boost::json::value document;
    if (const auto parse_error = parse_strict(*text, document))
        return error(Errc::invalid,
                     fmt::format("{}: {} (at {})", path, parse_error->what, parse_error->path));
    auto jobs = jobs_of(std::move(document));
    if (jobs && jobs->empty()) return error(Errc::invalid, path + ": there are no jobs in it");
    return jobs;
}

}  // namespace

ExitCode submit_jobs(Context& context) {
    auto& term = context.term;
    const auto& args = context.args;
    const auto key = args.one("idempotency-key").value_or(new_idempotency_key(context.system));
    const auto file = args.one("file");
    if (file && !args.rest.empty()) return term.usage("either --file or a command, not both");
    if (!file) {
        if (args.rest.empty() && !args.flag("kind"))
            return term.usage(
                "what shall be run? perdure submit -- echo hello, or --file "
                "jobs.json");
        auto job = job_from(context);
        if (!job) return not_made(context, job.error());
        set_key(*job, key);
        auto submitted =
            submit_surely(context, boost::json::serialize(*job), key, SpecSource::options);
        return submitted.body ? print_submitted(context, std::move(*submitted.body), key)
                              : submitted.code;
    }
    auto jobs = read_jobs(context, *file);
    if (!jobs) return term.fail(jobs.error());
    add_keys(*jobs, key);
    boost::json::object body;
    body["jobs"] = std::move(*jobs);
    auto submitted = submit_surely(context, boost::json::serialize(body), key, SpecSource::file);
    return submitted.body ? print_submitted(context, std::move(*submitted.body), key)
                          : submitted.code;
}

}  // namespace perdure::cli
