// Queues and limits: lists that are kept, never counted, and what people change about them.
#include <array>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "core/job/submit.h"
#include "wire/json_writer.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t limit_most = 1'000'000;

void write_queue(JsonWriter& out, const QueueLine& line) {
    out.begin_object();
    out.field("queue", line.queue);
    out.field("paused", line.paused);
    out.key("jobs");
    out.begin_object();
    for (const auto& place : places) {
        const auto count = line.jobs[static_cast<std::size_t>(place.state)];
        if (count > 0) out.field(place.name, count);
    }
    out.end_object();
    out.end_object();
}

// Nothing if it is a name that a job could use.
std::optional<Response> refuse_name(const std::string& name) {
    if (is_name(name)) return std::nullopt;
    return problem(error(Errc::invalid,
                         "a name must be 1 to 64 of a-z 0-9 . _ - and begin with a "
                         "letter or digit"));
}

Task<Response> set_paused(Api& api, const Request& request, bool paused) {
    QueryReader query(request);
    PauseQueue pause{.tenant = query.tenant(), .queue = request.names.front(), .paused = paused};
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    if (auto refusal = refuse_name(pause.queue)) co_return std::move(*refusal);
    auto done = co_await api.server.jobs().pause(pause);
    if (!done) co_return problem(done.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("queue", pause.queue);
    out.field("paused", paused);
    out.end_object();
    co_return response;
}

struct LimitWish {
    std::optional<std::uint32_t> max;
};
constexpr std::array limit_fields = {
    JsonField<LimitWish>{"max", [](const JsonCursor& at, LimitWish& wish) {
                             std::uint32_t max = 0;
                             at.read_between(max, 1, limit_most);
                             wish.max = max;
                         }}};

}  // namespace

Task<Response> list_queues(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    auto overview = co_await api.catalogue.overview(std::move(tenant));
    if (!overview) co_return problem(overview.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("queues");
    out.begin_array();
    for (const auto& line : overview->queues) write_queue(out, line);
    out.end_array();
    out.end_object();
    co_return response;
}

Task<Response> pause_queue(Api& api, const Request& request) {
    return set_paused(api, request, true);
}
Task<Response> resume_queue(Api& api, const Request& request) {
    return set_paused(api, request, false);
}

Task<Response> list_limits(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    auto overview = co_await api.catalogue.overview(std::move(tenant));
    if (!overview) co_return problem(overview.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("limits");
    out.begin_array();
    for (const auto& line : overview->limits) {
        out.begin_object();
        out.field("name", line.name);
        out.field("max", line.max);
        out.field("taken", line.taken);
        out.end_object();
    }
    out.end_array();
    out.end_object();
    co_return response;
}

Task<Response> set_limit(Api& api, const Request& request) {
    QueryReader query(request);
    DefineLimit limit{.tenant = query.tenant(), .name = request.names.front()};
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    if (auto refusal = refuse_name(limit.name)) co_return std::move(*refusal);
    LimitWish wish;
    if (const auto misfit = read_body<LimitWish>(request, limit_fields, wish))
        co_return problem(*misfit);
    if (!wish.max) co_return problem(Misfit{"say how many: {\"max\": 5}", "$.max"});
    limit.max = *wish.max;
    auto done = co_await api.server.jobs().define_limit(limit);
    if (!done) co_return problem(done.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("name", limit.name);
    out.field("max", limit.max);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
