// Router: from method and path to a handler. The table of routes is in router.cpp, in one place.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/api.h"
#include "api/http/message.h"
#include "core/access/access.h"

namespace perdure {

// What a route is about, for callers who are bound to a tenant.
enum class Scope {
    job,       // the one that the path names
    tenant,    // the one that the query names, `default` if it names none
    body,      // whatever the body says: the handler looks
    anyone,    // nothing that belongs to a tenant
    instance,  // all tenants together
};

struct Route {
    Method method = Method::get;
    std::string_view pattern;   // "/v1/jobs/{}/cancel"
    std::optional<Role> least;  // empty: open to everybody
    Scope scope = Scope::instance;
    // One of the two. `handle` answers at once; `stream` sends its answer piece by piece, or
    // returns one without having begun: a refusal.
    Task<Response> (*handle)(Api& api, const Request& request) = nullptr;
    Task<Response> (*stream)(Api& api, const Request& request, ChunkedBody& body) = nullptr;
    // What the body is: JSON, unless the route says otherwise.
    std::string_view content_type = "application/json";
    bool is_for_jobs = false;  // a running job may ask it as its attempt, about what is its own
};

struct Routed {
    const Route* route = nullptr;  // empty: answer with `refusal`
    Response refusal;
};

// All of them.
std::span<const Route> all_routes();
// What a caller who is bound to this tenant would reach; `job_tenant`: that of the named job, empty
// if there is none.
TenantReach reach_of(const Route& route, const Request& request, std::string_view bound_to,
                     std::string_view job_tenant);

// Finds the route and fills in request.names.
Routed find_route(Request& request);

}  // namespace perdure
