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

// What is ready, by who would take it; and since when it waits.
void append_waiting(MetricsText& out, const Overview& overview, const std::string& tenant) {
    using enum MetricType;
    const std::span queues(overview.queues);
    const auto shown = queues.first(std::min(queues.size(), queues_shown));
    out.family("perdure_oldest_ready_seconds", gauge,
               "How long the oldest ready job of a queue is in line.");
    for (const auto& line : shown)
        if (line.oldest_ready)
            out.sample({{"queue", line.queue}},
                       std::max(0.0, (overview.clock.now - *line.oldest_ready).seconds()));
    out.family("perdure_jobs_nobody_takes", gauge,
               "Ready jobs of a queue or kind that no connected worker takes.");
    for (const auto& line : shown) {
        std::uint64_t untaken = 0;
        for (const auto& [kind, count] : line.ready_kinds) {
            const Shape shape{.tenant = tenant, .queue = line.queue, .kind = kind};
            // Whose jobs a worker takes is not counted here: `perdure why` tells that.
            const bool is_taken = std::any_of(
                overview.workers.begin(), overview.workers.end(), [&](const WorkerLine& w) {
                    return matches(w.offer, shape) || refuses_submitter(w.offer, shape);
                });
            if (!is_taken) untaken += count;
        }
        if (untaken > 0) out.sample({{"queue", line.queue}}, untaken);
    }
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

void append_damage(MetricsText& out, const DamageService* damage) {
    out.family("perdure_damaged_rows", MetricType::gauge,
               "Rows that could not be understood and were not removed.");
    if (!damage) return;
    for (const auto& [table, rows] : damage->damage_counts())
        out.sample({{"table", table}}, std::uint64_t{rows});
}

void append_audit(MetricsText& out, const AuditLog* audit) {
    using enum MetricType;
    const auto counts = audit ? audit->counts() : AuditCounts{};
    out.family("perdure_audit_lines_total", counter, "Lines of the audit log.");
    out.sample({{"kind", "acts"}}, counts.acts);
    out.sample({{"kind", "refusals"}}, counts.refusals);
    out.single("perdure_audit_refusals_left_out_total", counter,
               "Refusals without a line of their own: there were too many in a second.",
               counts.refusals_left_out);
    out.single("perdure_audit_lost_total", counter,
               "Lines of the audit log that are lost: the disk was full or slow.", counts.lost);
    out.single("perdure_audit_files_cut_total", counter,
               "Files of the audit log that went before their time: there was too much.",
               counts.files_cut);
    out.single("perdure_audit_bytes", gauge, "Size of the audit log.", counts.bytes);
}

bool is_open_for_business(const Api& api) { return api.server.ready() && !api.stopping; }

}  // namespace

Task<Response> show_server(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
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
    const auto tenant = query.tenant();
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
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
    const auto overview = co_await read_overview(api.catalogue, tenant, terms_of(request));
    if (overview) {
        append_jobs(out, *overview);
        append_waiting(out, *overview, tenant);
        append_workers(out, *overview);
    }
    append_damage(out, api.options.damage);
    api.space.append(out);
    append_audit(out, api.options.access.audit);
    out.single("perdure_ready", MetricType::gauge, "1: this server can commit.",
               std::uint64_t{is_open_for_business(api) ? 1U : 0U});
    if (api.options.append_metrics) api.options.append_metrics(out);
    response.body = out.take();
    co_return response;
}

}  // namespace perdure::handlers
