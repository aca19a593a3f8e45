// What the server says about itself: /v1/server, /livez, /readyz, /metrics.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "ports/pieces.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"
#include "wire/worker_json.h"

namespace perdure::handlers {
namespace {

// So many have lines of their own, the first by name; sums are of all.
constexpr std::size_t queues_shown = 1'000;

void append_jobs(std::string& out, const Overview& overview) {
    auto into = std::back_inserter(out);
    fmt::format_to(into, "# TYPE perdure_queues gauge\nperdure_queues {}\n",
                   overview.queues.size());
    out += "# TYPE perdure_jobs gauge\n";
    for (std::size_t i = 0; i < std::min(overview.queues.size(), queues_shown); ++i) {
        const auto& line = overview.queues[i];
        for (const auto& place : places)
            fmt::format_to(into, "perdure_jobs{{queue=\"{}\",state=\"{}\"}} {}\n", line.queue,
                           place.name, line.jobs[static_cast<std::size_t>(place.state)]);
    }
    std::uint64_t slots = 0;
    std::uint64_t running = 0;
    std::uint64_t deaf = 0;
    for (const auto& line : overview.workers) {
        deaf += line.deaf ? 1 : 0;
        slots += line.slots;
        running += line.running;
    }
    std::uint64_t quarantined = 0;
    for (const auto& line : overview.queues)
        quarantined += line.jobs[static_cast<std::size_t>(JobState::quarantined)];
    fmt::format_to(into, "# TYPE perdure_quarantined_jobs gauge\nperdure_quarantined_jobs {}\n",
                   quarantined);
    fmt::format_to(into, "# TYPE perdure_workers gauge\nperdure_workers {}\n",
                   overview.workers.size());
    fmt::format_to(into, "# TYPE perdure_deaf_workers gauge\nperdure_deaf_workers {}\n", deaf);
    fmt::format_to(into, "# TYPE perdure_slots gauge\nperdure_slots {}\n", slots);
    fmt::format_to(into, "# TYPE perdure_slots_taken gauge\nperdure_slots_taken {}\n", running);
}

void append_damage(std::string& out, const DamageDesk* damage) {
    out += "# TYPE perdure_damaged_rows gauge\n";
    if (!damage) return;
    for (const auto& [table, rows] : damage->damage_counts())
        fmt::format_to(std::back_inserter(out), "perdure_damaged_rows{{table=\"{}\"}} {}\n", table,
                       rows);
}

bool is_open_for_business(const Api& api) { return api.server.ready() && !api.stopping; }

}  // namespace

Task<Response> show_server(Api& api, const Request& request) {
    if (const auto misfit = expect_nothing(request)) co_return problem(*misfit);
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("version", api.options.version);
    out.field("protocol", worker_protocol_version);
    out.field("store", api.options.store);
    out.field("uptime", duration_text(api.clock.boot() - api.started_at));
    out.field("ready", is_open_for_business(api));
    out.field("keeper", api.server.is_keeper());
    out.end_object();
    co_return response;
}

Task<Response> is_alive(Api&, const Request&) { co_return Response{.body = "{\"alive\":true}"}; }

Task<Response> is_ready(Api& api, const Request&) {
    if (is_open_for_business(api)) co_return Response{.body = "{\"ready\":true}"};
    co_return problem(error(Errc::unavailable, "the store does not answer"));
}

Task<Response> show_metrics(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    Response response{.content_type = "text/plain; version=0.0.4"};
    api.metrics.bytes_in_flight = api.bytes->in_flight();
    api.metrics.bytes_refused = api.bytes->refused();
    response.body = api.metrics.text() + api.server.meter().text();
    // Without a store there is nothing to say about jobs; the rest is still worth knowing.
    auto overview = co_await read_overview(api.catalogue, std::move(tenant), terms_of(request));
    if (overview) append_jobs(response.body, *overview);
    append_damage(response.body, api.options.damage);
    response.body += "# TYPE perdure_ready gauge\nperdure_ready ";
    response.body += is_open_for_business(api) ? "1\n" : "0\n";
    co_return response;
}

}  // namespace perdure::handlers
