// What the server says about itself: /v1/server, /livez, /readyz, /metrics.
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"
#include "wire/worker_json.h"

namespace perdure::handlers {
namespace {

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

Task<Response> show_metrics(Api& api, const Request&) {
    Response response{.content_type = "text/plain; version=0.0.4"};
    response.body = api.metrics.text();
    response.body += "# TYPE perdure_ready gauge\nperdure_ready ";
    response.body += is_open_for_business(api) ? "1\n" : "0\n";
    co_return response;
}

}  // namespace perdure::handlers
