// What the server says about itself: /v1/server, /livez, /readyz, /metrics.
#include <algorithm>
#include <span>

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

void append_jobs(MetricsText& out, const Overview& overview) {
    using enum MetricType;
    const std::span queues(overview.queues);
    const auto shown = queues.first(std::min(queues.size(), queues_shown));
    std::uint64_t quarantined = 0;
    for (const auto& line : queues)
        quarantined += line.jobs[static_cast<std::size_t>(JobState::quarantined)];
    out.single("perdure_queues", gauge, "Queues that have jobs, or are paused.",
               std::uint64_t{queues.size()});
    out.family("perdure_jobs", gauge, "Jobs in each state.");
    for (const auto& line : shown) {
        for (const auto& place : places)
            out.sample({{"queue", line.queue}, {"state", place.name}},
                       line.jobs[static_cast<std::size_t>(place.state)]);
    }
    out.single("perdure_quarantined_jobs", gauge, "Jobs in quarantine, discarded ones included.",
               quarantined);
    out.family("perdure_queue_paused", gauge, "1: a person has paused the queue.");
    for (const auto& line : shown)
        out.sample({{"queue", line.queue}}, std::uint64_t{line.paused ? 1U : 0U});
}

void append_workers(MetricsText& out, const Overview& overview) {
    using enum MetricType;
    std::uint64_t slots = 0;
    std::uint64_t running = 0;
    std::uint64_t deaf = 0;
    for (const auto& line : overview.workers) {
        deaf += line.deaf ? 1 : 0;
        slots += line.slots;
        running += line.running;
    }
    out.single("perdure_workers", gauge, "Workers that are connected.",
               std::uint64_t{overview.workers.size()});
    out.single("perdure_deaf_workers", gauge, "Workers that are heard and confirm no start.", deaf);
    out.single("perdure_slots", gauge, "Slots of the workers.", slots);
    out.single("perdure_slots_taken", gauge, "Slots that an attempt has.", running);
}

void append_damage(MetricsText& out, const DamageDesk* damage) {
    out.family("perdure_damaged_rows", MetricType::gauge,
               "Rows that could not be understood and were not removed.");
    if (!damage) return;
    for (const auto& [table, rows] : damage->damage_counts())
        out.sample({{"table", table}}, std::uint64_t{rows});
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
    const auto& reads_only = api.options.reads_only;
    co_return problem(
        error(Errc::unavailable, reads_only.empty() ? "the store does not answer" : reads_only));
}

Task<Response> show_metrics(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    Response response{.content_type = "text/plain; version=0.0.4"};
    api.metrics.bytes_in_flight = api.bytes->in_flight();
    api.metrics.bytes_refused = api.bytes->refused();
    MetricsText out;
    out.family("perdure_build_info", MetricType::gauge, "1, with the version of this server.");
    out.sample({{"version", api.options.version}, {"store", api.options.store}}, std::uint64_t{1});
    api.metrics.append(out);
    api.server.job_meter().append(out);
    api.server.meter().append(out);
    // Without a store there is nothing to say about jobs; the rest is still worth knowing.
    const auto overview =
        co_await read_overview(api.catalogue, std::move(tenant), terms_of(request));
    if (overview) {
        append_jobs(out, *overview);
        append_workers(out, *overview);
    }
    append_damage(out, api.options.damage);
    api.space.append(out);
    out.single("perdure_ready", MetricType::gauge, "1: this server can commit.",
               std::uint64_t{is_open_for_business(api) ? 1U : 0U});
    if (api.options.append_metrics) api.options.append_metrics(out);
    response.body = out.take();
    co_return response;
}

}  // namespace perdure::handlers
