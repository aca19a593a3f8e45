// GET /v1/jobs/ID, /result and /wait.
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "api/job_views.h"

namespace perdure::handlers {
namespace {

constexpr auto wait_usual = seconds(30);
constexpr auto wait_max = minutes(5);
constexpr auto ask_again = milliseconds(500);

Response result_of(const JobView& job) {
    Response response;
    JsonWriter out(response.body);
    write_result(out, job);
    return response;
}

Response show_damaged(JobId id, const Error& why) {
    Response response;
    JsonWriter out(response.body);
    write_damaged_job(out, id, why.what);
    return response;
}

Response still(const JobView& job) {
    Response response{.status = 202};
    JsonWriter out(response.body);
    out.begin_object();
    out.field("id", job.id);
    out.field("state", to_string(job.state));
    out.end_object();
    return response;
}

}  // namespace

Task<Response> show_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto misfit = expect_nothing(request)) co_return problem(*misfit);
    auto job = co_await api.server.jobs().job(*id);
    if (job.is(Errc::corrupt)) co_return show_damaged(*id, job.error());
    if (!job) co_return problem(job.error());
    const auto workers = co_await api.server.jobs().workers_of(*job);
    auto recoveries = co_await api.catalogue.recoveries(recoveries_of(*job));
    if (!recoveries) co_return problem(recoveries.error());
    Response response;
    JsonWriter out(response.body);
    write_job(out, *job, api.server.jobs().clock(), workers, api.server.sessions().progress(),
              *recoveries);
    co_return response;
}

Task<Response> show_result(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto misfit = expect_nothing(request)) co_return problem(*misfit);
    auto job = co_await api.server.jobs().job(*id);
    if (!job) co_return problem(job.error());
    if (has_ended(job->state)) co_return result_of(*job);
    co_return problem(error(Errc::conflict, "the job has not ended yet: wait for it with /wait"));
}

// Rung when a worker says something about the job; looks by itself as well.
Task<Response> wait_for_job(Api& api, const Request& request, ChunkedBody& body) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    QueryReader query(request);
    const auto patience = query.duration("for", wait_usual, wait_max);
    if (const auto misfit = query.finish()) co_return problem(*misfit);

    const auto until = api.clock.boot() + patience;
    const auto alarm = api.clock.make_alarm();
    const Bells::Listening listening(api.bells, *id, *alarm);
    while (true) {
        auto job = co_await api.server.jobs().job(*id);
        if (!job) co_return problem(job.error());
        if (has_ended(job->state)) co_return result_of(*job);
        const auto rest = until - api.clock.boot();
        if (rest <= Duration{} || api.stopping || body.peer_is_gone()) co_return still(*job);
        co_await alarm->wait(std::min(rest, ask_again));
    }
}

}  // namespace perdure::handlers
