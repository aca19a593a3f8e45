// GET /v1/workers and POST /v1/workers/NAME/drain.
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

void write_names(JsonWriter& out, std::string_view key, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out.key(key);
    out.begin_array();
    for (const auto& name : names) out.value(name);
    out.end_array();
}

void write_worker(JsonWriter& out, const WorkerLine& line) {
    out.begin_object();
    out.field("worker", line.worker);
    out.field("session", line.session);
    out.field("machine", line.machine);
    out.field("slots", line.slots);
    out.field("running", line.running);
    write_names(out, "queues", line.offer.queues);
    write_names(out, "kinds", line.offer.kinds);
    out.field("suspect", line.suspect);
    out.field("draining", line.draining);
    if (line.deaf) out.field("deaf", true);
    out.field("silent_for", duration_text(line.silent_for));
    out.end_object();
}

}  // namespace

Task<Response> list_workers(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    auto overview = co_await api.catalogue.overview(std::move(tenant));
    if (!overview) co_return problem(overview.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("workers");
    out.begin_array();
    for (const auto& line : overview->workers) write_worker(out, line);
    out.end_array();
    out.end_object();
    co_return response;
}

Task<Response> drain_worker(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    auto overview = co_await api.catalogue.overview(std::move(tenant));
    if (!overview) co_return problem(overview.error());
    const auto& name = request.names.front();
    std::size_t found = 0;
    std::size_t told = 0;
    for (const auto& line : overview->workers) {
        if (line.worker != name) continue;
        ++found;
        if (api.server.jobs().tell_to_drain(line.session)) ++told;
    }
    if (found == 0)
        co_return problem(error(Errc::not_found, "no worker `" + name + "` is connected"));
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("worker", name);
    out.field("sessions", told);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
