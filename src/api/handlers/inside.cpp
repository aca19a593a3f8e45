// POST /v1/worker/inside: what a running job asks as its attempt (docs/protocol/job-socket.md). It
// is whoever submitted that job (W1), in its tenant, and reaches what it has submitted itself. That
// the attempt runs now, under this very session, is looked at here for reads, and by the
// transaction for everything that changes something [P2].
#include <fmt/format.h>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/problem.h"
#include "api/router.h"
#include "wire/inside.h"

namespace perdure::handlers {
namespace {

// What is streamed elsewhere answers at once here: whoever asks from inside asks again.
class NoStream final : public ChunkedBody {
public:
    Task<bool> begin(Response) override { co_return false; }
    Task<bool> send(std::string, CountedBy) override { co_return false; }
    void give_up() override {}
    bool peer_is_gone() override { return true; }
};

std::optional<Method> method_named(std::string_view name) {
    for (const auto method : {Method::get, Method::post})
        if (to_string(method) == name) return method;
    return std::nullopt;
}

// Of the job, as its session has it now.
bool runs_now(const JobView& job, const InsideCall& call) {
    return job.run && job.run->attempt == call.attempt && job.run->session == call.session;
}

std::optional<Request> request_of(InsideCall& call, const JobView& job) {
    const auto method = method_named(call.method);
    auto request = read_target(call.target);
    if (!method || !request) return std::nullopt;
    request->method = *method;
    request->content_type = "application/json";
    request->body = std::move(call.body);
    request->who = job.spec->submitted_by;
    request->caller = request->who.name;
    request->tenant = job.spec->tenant;
    request->by = ByAttempt{call.session, call.attempt};
    request->number_inside = call.number;
    return request;
}

// What another has submitted does not exist for it.
Task<std::optional<Response>> refuse_stranger(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    auto job = co_await read_job(api, terms_of(request), *id);
    if (!job) co_return problem(job.error());
    const auto& parent = job->spec->parent;
    if (parent && parent->job == request.by->attempt.job) co_return std::nullopt;
    co_return problem(
        error(Errc::not_found, "there is no job " + id->text() + " that this one has submitted"));
}

bool is_to_be_asked_again(const Response& response) {
    const auto& code = response.refused_as;
    return code == Errc::unavailable || code == Errc::overloaded || code == Errc::outcome_unknown;
}

void note(Api& api, const Route& route, const Request& request, const Response& response) {
    auto* audit = api.access.options().audit;
    if (!audit || request.method == Method::get) return;
    audit->append({.at = api.clock.wall(),
                   .who = request.caller,
                   .action = fmt::format("{} {} inside {}", to_string(request.method),
                                         route.pattern, request.by->attempt.job.text()),
                   .subject = request.names.empty() ? response.subject : request.names.front(),
                   .status = response.status,
                   .rule = "W1/inside"});
}

Task<Response> carry_out(Api& api, Request request) {
    const auto routed = find_route(request);
    if (!routed.route) co_return routed.refusal;
    if (!routed.route->is_for_jobs)
        co_return problem(error(Errc::forbidden,
                                "a job may submit others, and look at, wait for and cancel those; "
                                "for everything else name a server (--server)"));
    if (routed.route->scope == Scope::job) {
        if (auto refusal = co_await refuse_stranger(api, request)) co_return std::move(*refusal);
    }
    NoStream none;
    Response response;
    if (routed.route->stream)
        response = co_await routed.route->stream(api, request, none);
    else
        response = co_await routed.route->handle(api, request);
    if (is_to_be_asked_again(response)) co_return response;
    note(api, *routed.route, request, response);
    co_return response;
}

}  // namespace

Task<Response> ask_inside(Api& api, const Request& request) {
    InsideCall call;
    if (const auto parse_error = from_json(request.body, call)) co_return problem(*parse_error);
    auto job = co_await read_job(api, terms_of(request), call.attempt.job);
    if (job.is(Errc::not_found))
        co_return problem(error(Errc::fenced, "O1/not_the_running_attempt"));
    if (!job) co_return problem(job.error());
    if (!runs_now(*job, call)) co_return problem(error(Errc::fenced, "O1/not_the_running_attempt"));
    auto inner = request_of(call, *job);
    if (!inner) co_return problem(error(Errc::invalid, "method or target cannot be understood"));
    auto answered = co_await carry_out(api, std::move(*inner));
    // Whether that was said to be fenced, or may be different a moment later, is the worker's to
    // know.
    if (is_to_be_asked_again(answered) || answered.refused_as == Errc::fenced) co_return answered;
    Response response;
    append_json(response.body, InsideReply{answered.status, std::move(answered.body)});
    co_return response;
}

}  // namespace perdure::handlers
