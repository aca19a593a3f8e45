#include "api/metrics.h"

#include <string>

namespace perdure {

void Metrics::answered(std::string_view route, unsigned status, Duration took) {
    auto& known = routes_[route];
    ++known.answers[status];
    known.times.add(took);
}

void Metrics::append(MetricsText& out) const {
    using enum MetricType;
    out.family("perdure_http_requests_total", counter, "Requests that were answered.");
    for (const auto& [route, known] : routes_)
        for (const auto& [status, count] : known.answers)
            out.sample({{"route", route}, {"status", std::to_string(status)}}, count);
    out.family("perdure_http_request_seconds", histogram, "How long the answers took.");
    for (const auto& [route, known] : routes_) out.sample({{"route", route}}, known.times);
    out.single("perdure_connections", gauge, "Connections that are open.", connections);
    out.single("perdure_connections_accepted_total", counter, "Connections that were accepted.",
               connections_accepted);
    out.single("perdure_connections_refused_total", counter,
               "Connections that were refused because there were too many.", connections_refused);
    out.single("perdure_accept_failures_total", counter,
               "Connections that the system could not accept.", accept_failures);
    out.single("perdure_streams_cut_total", counter,
               "Streams that were cut because their worker did not read.", streams_cut);
    out.single("perdure_bytes_in_flight", gauge,
               "Bytes of requests, answers and streams under way.", bytes_in_flight);
    out.single("perdure_bytes_refused_total", counter,
               "Times that there was no room for the bytes of a request or answer.", bytes_refused);
    out.single("perdure_requests_unauthenticated_total", counter,
               "Requests of callers who are not known.", unauthenticated);
    out.single("perdure_requests_forbidden_total", counter,
               "Requests of callers whose role or tenant is not the right one.", forbidden);
    out.single("perdure_jobs_submitted_total", counter, "Jobs that this server has accepted.",
               jobs_submitted);
    out.single("perdure_report_items_total", counter, "Statements of workers about attempts.",
               reports);
}

}  // namespace perdure
