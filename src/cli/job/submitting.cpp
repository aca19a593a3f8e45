#include "cli/job/submitting.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/job/job_options.h"

namespace perdure::cli {
namespace {

constexpr auto patience = seconds(30);
constexpr auto between = milliseconds(500);

bool is_worth_a_repetition(unsigned status) {
    return status == 408 || status == 429 || status == 503 || status == 504;
}

struct Refusal {
    const Error& why;
    std::string_view path;
    SpecSource source;
};

ExitCode refused(Context& context, const Refusal& refusal) {
    const auto option =
        refusal.source == SpecSource::options ? option_of_path(refusal.path) : std::string_view();
    auto why = refusal.why;
    if (!option.empty()) why.what = fmt::format("{}: {}", option, why.what);
    const auto code = context.term.fail(why, option.empty() ? refusal.path : "");
    // A folder that was passed along is a part of the request, too.
    if (why.code == Errc::conflict && refusal.source == SpecSource::options &&
        context.args.flag("idempotency-key") && !context.args.flag("cwd"))
        context.term.say(
            "the folder is a part of the request: to repeat it from elsewhere, name "
            "it with --cwd");
    return code;
}

}  // namespace

SubmitAnswer submit_surely(Context& context, const std::string& body, const std::string& key,
                           SpecSource source) {
    auto& term = context.term;
    const ApiRequest request{.method = "POST", .target = "/v1/jobs", .body = body};
    const auto until = context.system.now() + patience;
    bool maybe_done = false;  // some try may have been carried out
    for (int tries = 0;; ++tries) {
        auto answer = context.api.request(request);
        if (answer && answer->ok()) return {std::move(answer->body), ExitCode::ok};
        const auto& why = answer ? answer->refusal : answer.error();
        const bool again = answer ? is_worth_a_repetition(answer->status)
                                  : maybe_done || why.code == Errc::outcome_unknown;
        maybe_done = maybe_done || why.code == Errc::outcome_unknown;
        if (!again && answer) return {std::nullopt, refused(context, {why, answer->path, source})};
        if (!again) return {std::nullopt, unreachable(term, context.api, why)};
        if (context.system.now() >= until || context.system.interrupted() != Interrupt::none) {
            if (maybe_done)
                term.say(
                    fmt::format("the job may have been accepted; submitting it again with "
                                "--idempotency-key {} is safe",
                                key));
            const auto code = maybe_done ? Errc::outcome_unknown : why.code;
            return {std::nullopt, term.fail(error(code, why.what))};
        }
        if (tries == 0)
            term.say(fmt::format("no answer yet ({}); trying again with the same idempotency key",
                                 why.what));
        context.system.pause(between);
    }
}

ExitCode not_made(Context& context, const Error& why) {
    if (why.code == Errc::unavailable) return unreachable(context.term, context.api, why);
    return context.term.fail(why);
}

void add_keys(boost::json::array& jobs, const std::string& key) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto* job = jobs[i].if_object();
        if (job && !job->contains("idempotency_key"))
            set_key(*job, jobs.size() == 1 ? key : fmt::format("{}.{}", key, i));
    }
}

ExitCode print_submitted(Context& context, boost::json::value answer, const std::string& key) {
    auto& term = context.term;
    const auto& all = list_of(answer, "jobs");
    context.system.remember_job(text_of(all.empty() ? answer : all.back(), "id"));
    if (context.json()) {
        if (auto* object = answer.if_object()) (*object)["idempotency_key"] = key;
        term.print(answer);
        return ExitCode::ok;
    }
    boost::json::array one{answer};
    const auto& jobs = has(answer, "jobs") ? list_of(answer, "jobs") : one;
    std::size_t known = 0;
    for (const auto& job : jobs) {
        term.out(text_of(job, "id") + "\n");
        if (!truth_of(job, "created")) ++known;
    }
    if (context.args.flag("quiet")) return ExitCode::ok;
    if (known > 0) term.say(fmt::format("{} of {} had been submitted before", known, jobs.size()));
    term.say(fmt::format("idempotency key {}; watch: perdure logs -f {}", key,
                         jobs.size() == 1 ? text_of(jobs[0], "id") : "ID"));
    return ExitCode::ok;
}

}  // namespace perdure::cli
