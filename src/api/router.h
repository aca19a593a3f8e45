// Router: from method and path to a handler. The table of routes is in router.cpp, in one place.
#pragma once

#include <string>
#include <string_view>

#include "api/api.h"
#include "api/http/message.h"

namespace perdure {

struct Route {
    Method method = Method::get;
    std::string_view pattern;  // "/v1/jobs/{}/cancel"
    // One of the two. `handle` answers at once; `stream` sends its answer piece by piece, or
    // returns one without having begun: a refusal.
    Task<Response> (*handle)(Api& api, const Request& request) = nullptr;
    Task<Response> (*stream)(Api& api, const Request& request, ChunkedBody& body) = nullptr;
    // What the body is: JSON, unless the route says otherwise.
    std::string_view content_type = "application/json";
};

struct Routed {
    const Route* route = nullptr;  // nothing: answer with `refusal`
    Response refusal;
};

// Finds the route and fills in request.names.
Routed find_route(Request& request);

}  // namespace perdure
