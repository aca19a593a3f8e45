// POST /v1/jobs. 201 is a promise: it is sent only after the job is durable [P1].
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "api/job_views.h"
#include "core/job/submit.h"
#include "wire/job_json.h"

namespace perdure::handlers {
namespace {

constexpr std::size_t jobs_max = 10'000;

struct Wanted {
    std::vector<JobRequest> jobs;
    bool is_many = false;

    std::string path(std::size_t index) const {
        return is_many ? fmt::format("$.jobs[{}]", index) : "$";
    }
};

void read_many(const JsonCursor& at, std::vector<JobRequest>& into) {
    at.members([&](std::string_view name, const JsonCursor& member) {
        if (name != "jobs") return member.parse_error("there is no such field beside `jobs`");
        into.reserve(std::min(member.count(), jobs_max));
        member.elements([&](const JsonCursor& job) { read_job(job, into.emplace_back()); });
        if (into.empty() || into.size() > jobs_max)
            member.parse_error(fmt::format("must be a list of 1 to {} jobs", jobs_max));
    });
}

std::optional<ParseError> read_wanted(const std::string& body, Wanted& wanted) {
    JsonTree tree;
    if (auto parse_error = parse_strict(body, tree)) return parse_error;
    Reading reading;
    const JsonCursor at(tree, reading);
    wanted.is_many = at.has("jobs");
    if (wanted.is_many)
        read_many(at, wanted.jobs);
    else
        read_job(at, wanted.jobs.emplace_back());
    return reading.parse_error;
}

std::string path_of_field(std::string path, std::string_view field) {
    return field.empty() ? path : fmt::format("{}.{}", path, field);
}

// What only the store can refuse: the key was used for something else, or a limit is not defined.
std::string path_of_refusal(const Error& why, const std::string& path) {
    if (why.code == Errc::conflict || why.code == Errc::gone) return path + ".idempotency_key";
    if (why.code != Errc::invalid) return "";
    return path + (why.what.starts_with("after:") ? ".after" : ".limits");
}

std::string path_of(const RefusedJob& refused, const std::string& path) {
    return refused.field ? path_of_field(path, *refused.field) : path_of_refusal(refused.why, path);
}

Response answer_many(const std::vector<Submitted>& all) {
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("jobs");
    out.begin_array();
    for (const auto& submitted : all) write_submitted(out, submitted);
    out.end_array();
    out.end_object();
    const bool any = std::any_of(all.begin(), all.end(), [](const auto& s) { return s.created; });
    response.status = any ? 201 : 200;
    return response;
}

// A caller who is bound to a tenant submits there and nowhere else (A4).
std::optional<Response> refuse_tenant(const Request& request, const Wanted& wanted) {
    if (request.tenant.empty()) return std::nullopt;
    for (std::size_t i = 0; i < wanted.jobs.size(); ++i)
        if (wanted.jobs[i].spec.tenant != request.tenant)
            return problem(
                error(Errc::forbidden,
                      fmt::format("{} may submit to the tenant {} alone, and this is "
                                  "for {}: name the tenant in the job",
                                  request.caller, request.tenant, wanted.jobs[i].spec.tenant)),
                wanted.path(i) + ".tenant");
    return std::nullopt;
}

// Whose it is. What comes from inside an attempt is the same if it is asked again, with the same
// number: so it has an idempotency key, as long as anybody may ask again.
void note_origin(const Request& request, Wanted& wanted) {
    for (std::size_t i = 0; i < wanted.jobs.size(); ++i) {
        auto& spec = wanted.jobs[i].spec;
        keep_submitter(spec, request.who);
        if (!request.by) continue;
        const auto& attempt = request.by->attempt;
        spec.parent = attempt;
        if (spec.idempotency_key) continue;
        spec.idempotency_key = fmt::format("inside-{}-{}-{}-{}", attempt.job.text(),
                                           attempt.epoch.value, request.number_inside, i);
        spec.keep_key = hours(1);
    }
}

Task<Response> submit_one(Api& api, Wanted wanted, std::optional<ByAttempt> by) {
    if (const auto fault = api.server.jobs().find_fault(wanted.jobs.front()))
        co_return problem(fault->error, path_of_field("$", fault->field));
    auto submitted =
        co_await api.server.jobs().submit(std::move(wanted.jobs.front()), api.clock.wall(), by);
    if (!submitted) co_return problem(submitted.error(), path_of_refusal(submitted.error(), "$"));
    ++api.metrics.jobs_submitted;
    Response response{.status = submitted->created ? 201U : 200U};
    JsonWriter out(response.body);
    write_submitted(out, *submitted);
    response.subject = submitted->id.text();
    co_return response;
}

Task<Response> submit_many(Api& api, Wanted wanted, std::optional<ByAttempt> by) {
    const auto count = wanted.jobs.size();
    auto submitted =
        co_await api.server.jobs().submit_all(std::move(wanted.jobs), api.clock.wall(), by);
    if (!submitted) co_return problem(submitted.error());
    if (const auto* refused = std::get_if<RefusedJob>(&*submitted))
        co_return problem(refused->why, path_of(*refused, wanted.path(refused->index)));
    api.metrics.jobs_submitted += count;
    co_return answer_many(std::get<std::vector<Submitted>>(*submitted));
}

}  // namespace

Task<Response> submit_jobs(Api& api, const Request& request) {
    if (const auto parse_error = QueryReader(request).finish()) co_return problem(*parse_error);
    if (const auto why = api.space.why_no_submits(api.clock.boot())) co_return problem(*why);
    Wanted wanted;
    if (const auto parse_error = read_wanted(request.body, wanted)) co_return problem(*parse_error);
    if (auto refusal = refuse_tenant(request, wanted)) co_return std::move(*refusal);
    note_origin(request, wanted);
    if (wanted.is_many) co_return co_await submit_many(api, std::move(wanted), request.by);
    co_return co_await submit_one(api, std::move(wanted), request.by);
}

}  // namespace perdure::handlers
