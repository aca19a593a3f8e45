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
    const auto seconds = took.seconds();
    ++times_.count;
    times_.seconds += seconds;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        if (seconds > bounds[i]) continue;
        ++times_.within[i];
        return;
    }
}

std::string Metrics::text() const {
    std::string out;
    auto into = std::back_inserter(out);
    out += "# TYPE perdure_http_requests_total counter\n";
    for (const auto& [key, count] : requests_)
        fmt::format_to(into, "perdure_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n",
                       key.first, key.second, count);
    out += "# TYPE perdure_http_request_seconds histogram\n";
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        sum += times_.within[i];
        fmt::format_to(into, "perdure_http_request_seconds_bucket{{le=\"{}\"}} {}\n", bounds[i],
                       sum);
    }
    fmt::format_to(into, "perdure_http_request_seconds_bucket{{le=\"+Inf\"}} {}\n", times_.count);
    fmt::format_to(into, "perdure_http_request_seconds_sum {}\n", times_.seconds);
    fmt::format_to(into, "perdure_http_request_seconds_count {}\n", times_.count);
    plain(out, "perdure_connections", "gauge", connections);
    plain(out, "perdure_connections_accepted_total", "counter", connections_accepted);
    plain(out, "perdure_connections_refused_total", "counter", connections_refused);
    plain(out, "perdure_accept_failures_total", "counter", accept_failures);
    plain(out, "perdure_streams_cut_total", "counter", streams_cut);
    plain(out, "perdure_jobs_submitted_total", "counter", jobs_submitted);
    plain(out, "perdure_report_items_total", "counter", reports);
    return out;
}

}  // namespace perdure
