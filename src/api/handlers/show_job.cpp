// GET /v1/jobs/ID, /attempts, /result and /wait.
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "api/job_views.h"

namespace perdure::handlers {
namespace {

constexpr auto wait_usual = seconds(30);
constexpr auto wait_max = minutes(5);
constexpr auto ask_again = milliseconds(500);
constexpr std::uint32_t attempts_usual = 100;

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
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    const JobQuery query{.job = *id, .attempts = {.max = attempts_usual}};
    auto shown = co_await api.catalogue.job(query, terms_of(request));
    if (shown.is(Errc::corrupt)) co_return show_damaged(*id, shown.error());
    if (!shown) co_return problem(shown.error());
    auto recoveries =
        co_await api.catalogue.recoveries(recoveries_of(shown->job), terms_of(request));
    if (!recoveries) co_return problem(recoveries.error());
    Response response;
    JsonWriter out(response.body);
    write_job(out, *shown, api.server.jobs().clock(), api.server.sessions().progress(),
              *recoveries);
    co_return response;
}

Task<Response> list_attempts(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    QueryReader query(request);
    const auto before = query.number("before", UINT32_MAX, 1, UINT32_MAX);
    const AttemptWindow window{.before = Epoch{static_cast<std::uint32_t>(before)},
                               .max = read_page_size(query)};
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    const JobQuery wanted{.job = *id, .attempts = window};
    auto shown = co_await api.catalogue.job(wanted, terms_of(request));
    if (!shown) co_return problem(shown.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("id", *id);
    write_attempts(out, *shown, "next");
    out.end_object();
    co_return response;
}

Task<Response> show_result(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    auto job = co_await read_job(api, terms_of(request), *id);
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
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);

    const auto until = api.clock.boot() + patience;
    const auto alarm = api.clock.make_alarm();
    const Bells::Listening listening(api.bells, *id, *alarm);
    while (true) {
        auto job = co_await read_job(api, terms_of(request), *id);
        const auto rest = until - api.clock.boot();
        const bool is_over = rest <= Duration{} || api.stopping || body.peer_is_gone();
        // While too many read it is looked at again a little later.
        if (!job && (is_over || !job.is(Errc::overloaded))) co_return problem(job.error());
        if (job && has_ended(job->state)) co_return result_of(*job);
        if (job && is_over) co_return still(*job);
        co_await alarm->wait(std::min(rest, ask_again));
    }
}

}  // namespace perdure::handlers
