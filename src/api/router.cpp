#include "api/router.h"

#include <algorithm>
#include <array>

#include "api/handlers/handlers.h"
#include "api/http/problem.h"
#include "api/http/query.h"

namespace perdure {
namespace {

using namespace handlers;

constexpr auto get = Method::get;
constexpr auto post = Method::post;
constexpr std::optional<Role> open = std::nullopt;
constexpr auto viewer = Role::viewer;
constexpr auto submitter = Role::submitter;
constexpr auto operating = Role::operator_;
constexpr auto working = Role::worker;
constexpr auto admin = Role::admin;
constexpr std::string_view any_bytes = "application/octet-stream";

// What a running job may ask as its attempt.
constexpr Route for_jobs(Route route) {
    route.is_for_jobs = true;
    return route;
}

// The busiest first. Each with the least role that may use it (A4).
const std::array routes = {
    for_jobs({post, "/v1/jobs", submitter, Scope::body, submit_jobs}),
    Route{post, "/v1/worker/report", working, Scope::instance, take_report},
    Route{post, "/v1/worker/heartbeat", working, Scope::instance, take_heartbeat},
    Route{post, "/v1/worker/logs", working, Scope::instance, take_logs, nullptr, any_bytes},
    Route{post, "/v1/worker/inside", working, Scope::instance, ask_inside},
    Route{post, "/v1/worker/open", working, Scope::instance, open_session},
    Route{get, "/v1/worker/stream", working, Scope::instance, nullptr, stream_work},
    Route{get, "/v1/jobs", viewer, Scope::tenant, list_jobs},
    for_jobs({get, "/v1/jobs/{}", viewer, Scope::job, show_job}),
    Route{get, "/v1/jobs/{}/attempts", viewer, Scope::job, list_attempts},
    Route{get, "/v1/jobs/{}/result", viewer, Scope::job, show_result},
    for_jobs({get, "/v1/jobs/{}/wait", viewer, Scope::job, nullptr, wait_for_job}),
    Route{get, "/v1/jobs/{}/why", viewer, Scope::job, explain_job},
    Route{get, "/v1/jobs/{}/policy", viewer, Scope::job, explain_policy_of_job},
    Route{get, "/v1/policy", viewer, Scope::anyone, explain_policy_for},
    Route{get, "/v1/policies", viewer, Scope::anyone, list_policies},
    Route{get, "/v1/jobs/{}/logs", viewer, Scope::job, nullptr, read_logs},
    for_jobs({post, "/v1/jobs/{}/cancel", submitter, Scope::job, cancel_job}),
    Route{post, "/v1/jobs/{}/hold", submitter, Scope::job, hold_job},
    Route{post, "/v1/jobs/{}/unhold", submitter, Scope::job, unhold_job},
    Route{post, "/v1/jobs/{}/retry", submitter, Scope::job, retry_job},
    Route{post, "/v1/jobs/{}/callbacks", submitter, Scope::job, add_callback},
    Route{post, "/v1/jobs/{}/release", operating, Scope::job, release_job},
    Route{post, "/v1/jobs/{}/accept", operating, Scope::job, accept_job},
    Route{post, "/v1/jobs/{}/discard", operating, Scope::job, discard_job},
    Route{get, "/v1/queues", viewer, Scope::tenant, list_queues},
    Route{post, "/v1/queues/{}/pause", operating, Scope::tenant, pause_queue},
    Route{post, "/v1/queues/{}/resume", operating, Scope::tenant, resume_queue},
    Route{get, "/v1/limits", viewer, Scope::tenant, list_limits},
    Route{Method::put, "/v1/limits/{}", operating, Scope::tenant, set_limit},
    Route{get, "/v1/workers", viewer, Scope::instance, list_workers},
    Route{post, "/v1/workers/{}/drain", operating, Scope::instance, drain_worker},
    Route{get, "/v1/server", viewer, Scope::instance, show_server},
    Route{get, "/v1/fsck", operating, Scope::instance, check_store},
    Route{post, "/v1/backup", admin, Scope::instance, start_backup},
    Route{get, "/v1/backup", admin, Scope::instance, show_backup},
    Route{post, "/v1/fsck/discard", admin, Scope::instance, discard_row},
    Route{get, "/v1/account", viewer, Scope::tenant, show_account},
    Route{get, "/v1/recoveries", viewer, Scope::tenant, list_recoveries},
    Route{post, "/v1/recover", operating, Scope::instance, recover_now},
    Route{get, "/livez", open, Scope::anyone, is_alive},
    Route{get, "/readyz", open, Scope::anyone, is_ready},
    Route{get, "/v1/tokens", admin, Scope::instance, list_tokens},
    Route{post, "/v1/tokens", admin, Scope::instance, create_token},
    Route{post, "/v1/tokens/{}/revoke", admin, Scope::instance, revoke_token},
    Route{get, "/v1/audit", admin, Scope::instance, list_audit},
    Route{get, "/metrics", viewer, Scope::instance, show_metrics},
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

std::span<const Route> all_routes() { return routes; }

TenantReach reach_of(const Route& route, const Request& request, std::string_view bound_to,
                     std::string_view job_tenant) {
    switch (route.scope) {
        case Scope::job: {
            const bool is_own = job_tenant.empty() || job_tenant == bound_to;
            return is_own ? TenantReach::own : TenantReach::job_of_other;
        }
        case Scope::tenant: {
            const auto named = QueryReader(request).tenant();
            return named == bound_to ? TenantReach::own : TenantReach::foreign;
        }
        case Scope::body:
        case Scope::anyone: return TenantReach::own;
        case Scope::instance: return TenantReach::all;
    }
    return TenantReach::all;
}

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
