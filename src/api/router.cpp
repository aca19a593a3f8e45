#include "api/router.h"

#include <algorithm>
#include <array>

#include "api/handlers/handlers.h"
#include "api/http/problem.h"

namespace perdure {
namespace {

using namespace handlers;

constexpr auto get = Method::get;
constexpr auto post = Method::post;
constexpr std::string_view any_bytes = "application/octet-stream";

// The busiest first.
const std::array routes = {
    Route{post, "/v1/jobs", submit_jobs},
    Route{post, "/v1/worker/report", take_report},
    Route{post, "/v1/worker/heartbeat", take_heartbeat},
    Route{post, "/v1/worker/logs", take_logs, nullptr, any_bytes},
    Route{post, "/v1/worker/open", open_session},
    Route{get, "/v1/worker/stream", nullptr, stream_work},
    Route{get, "/v1/jobs", list_jobs},
    Route{get, "/v1/jobs/{}", show_job},
    Route{get, "/v1/jobs/{}/attempts", list_attempts},
    Route{get, "/v1/jobs/{}/result", show_result},
    Route{get, "/v1/jobs/{}/wait", nullptr, wait_for_job},
    Route{get, "/v1/jobs/{}/why", explain_job},
    Route{get, "/v1/jobs/{}/policy", explain_policy_of_job},
    Route{get, "/v1/policy", explain_policy_for},
    Route{get, "/v1/policies", list_policies},
    Route{get, "/v1/jobs/{}/logs", nullptr, read_logs},
    Route{post, "/v1/jobs/{}/cancel", cancel_job},
    Route{post, "/v1/jobs/{}/hold", hold_job},
    Route{post, "/v1/jobs/{}/unhold", unhold_job},
    Route{post, "/v1/jobs/{}/retry", retry_job},
    Route{post, "/v1/jobs/{}/callbacks", add_callback},
    Route{post, "/v1/jobs/{}/release", release_job},
    Route{post, "/v1/jobs/{}/accept", accept_job},
    Route{post, "/v1/jobs/{}/discard", discard_job},
    Route{get, "/v1/queues", list_queues},
    Route{post, "/v1/queues/{}/pause", pause_queue},
    Route{post, "/v1/queues/{}/resume", resume_queue},
    Route{get, "/v1/limits", list_limits},
    Route{Method::put, "/v1/limits/{}", set_limit},
    Route{get, "/v1/workers", list_workers},
    Route{post, "/v1/workers/{}/drain", drain_worker},
    Route{get, "/v1/server", show_server},
    Route{get, "/v1/fsck", check_store},
    Route{post, "/v1/fsck/discard", discard_row},
    Route{get, "/v1/recoveries", list_recoveries},
    Route{post, "/v1/recover", recover_now},
    Route{get, "/livez", is_alive},
    Route{get, "/readyz", is_ready},
    Route{get, "/metrics", show_metrics},
};

// The first segment of `text`, which begins with a slash; takes it away.
std::string_view next_segment(std::string_view& text) {
    text.remove_prefix(1);
    const auto segment = text.substr(0, text.find('/'));
    text.remove_prefix(segment.size());
    return segment;
}

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& names) {
    names.clear();
    while (!pattern.empty() && !path.empty()) {
        const auto wanted = next_segment(pattern);
        const auto given = next_segment(path);
        if (wanted == "{}" && !given.empty())
            names.emplace_back(given);
        else if (wanted != given)
            return false;
    }
    return pattern.empty() && path.empty();
}

std::string_view to_string(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::post: return "POST";
        case Method::put: return "PUT";
        case Method::other: return "";
    }
    return "";
}

Response no_route(const std::string& path) {
    return problem(error(Errc::not_found, "there is no route " + path + "; see docs/protocol"));
}

Response wrong_method(const std::string& allowed) {
    auto response = problem(405, error(Errc::invalid, "this route takes " + allowed));
    response.headers.emplace_back("Allow", allowed);
    return response;
}

// Also a control: what a web page can make a browser send across sites is no JSON.
bool is_acceptable(const Request& request, const Route& route) {
    if (request.content_type.empty() || request.body.empty()) return true;
    const auto type = std::string_view(request.content_type);
    return type.substr(0, type.find_first_of("; ")) == route.content_type;
}

}  // namespace

Routed find_route(Request& request) {
    std::string allowed;
    for (const auto& route : routes) {
        if (!matches(route.pattern, request.path, request.names)) continue;
        if (route.method == request.method) {
            if (is_acceptable(request, route)) return {.route = &route};
            return {.refusal =
                        problem(415, error(Errc::invalid, "the content type must be " +
                                                              std::string(route.content_type)))};
        }
        if (!allowed.empty()) allowed += ", ";
        allowed += to_string(route.method);
    }
    if (!allowed.empty()) return {.refusal = wrong_method(allowed)};
    return {.refusal = no_route(request.path)};
}

}  // namespace perdure
