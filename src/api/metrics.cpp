#include "api/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace perdure {
namespace {

void plain(std::string& out, std::string_view name, std::string_view type, std::uint64_t value) {
    fmt::format_to(std::back_inserter(out), "# TYPE {} {}\n{} {}\n", name, type, name, value);
}

}  // namespace

void Metrics::answered(std::string_view route, unsigned status, Duration took) {
    ++requests_[{route, status}];
    times_.add(took);
}

std::string Metrics::text() const {
    std::string out;
    auto into = std::back_inserter(out);
    out += "# TYPE perdure_http_requests_total counter\n";
    for (const auto& [key, count] : requests_)
        fmt::format_to(into, "perdure_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n",
                       key.first, key.second, count);
    out += "# TYPE perdure_http_request_seconds histogram\n";
    times_.append(out, "perdure_http_request_seconds", "");
    plain(out, "perdure_connections", "gauge", connections);
    plain(out, "perdure_connections_accepted_total", "counter", connections_accepted);
    plain(out, "perdure_connections_refused_total", "counter", connections_refused);
    plain(out, "perdure_accept_failures_total", "counter", accept_failures);
    plain(out, "perdure_streams_cut_total", "counter", streams_cut);
    plain(out, "perdure_bytes_in_flight", "gauge", bytes_in_flight);
    plain(out, "perdure_bytes_refused_total", "counter", bytes_refused);
    plain(out, "perdure_requests_unauthenticated_total", "counter", unauthenticated);
    plain(out, "perdure_requests_forbidden_total", "counter", forbidden);
    plain(out, "perdure_jobs_submitted_total", "counter", jobs_submitted);
    plain(out, "perdure_report_items_total", "counter", reports);
    return out;
}

}  // namespace perdure
