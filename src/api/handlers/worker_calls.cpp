// POST /v1/worker/…: what workers say (docs/protocol/worker.md).
#include "api/handlers/handlers.h"
#include "api/http/problem.h"
#include "api/http/query.h"
#include "wire/bytes/log_frames.h"
#include "wire/worker_json.h"

namespace perdure::handlers {
namespace {

template <class Message>
Response answer(const Result<Message>& result) {
    if (!result) return problem(result.error());
    Response response;
    append_json(response.body, *result);
    return response;
}

}  // namespace

Task<Response> open_session(Api& api, const Request& request) {
    OpenRequest message;
    if (const auto misfit = from_json(request.body, message)) co_return problem(*misfit);
    co_return answer(co_await api.server.sessions().open(std::move(message)));
}

Task<Response> take_heartbeat(Api& api, const Request& request) {
    HeartbeatRequest message;
    if (const auto misfit = from_json(request.body, message)) co_return problem(*misfit);
    api.server.meter().heard(message.session, api.clock.boot());
    co_return answer(co_await api.server.sessions().heartbeat(std::move(message)));
}

Task<Response> take_report(Api& api, const Request& request) {
    ReportRequest message;
    if (const auto misfit = from_json(request.body, message)) co_return problem(*misfit);
    std::vector<JobId> ended;
    for (const auto& item : message.items)
        if (item.kind == ReportItem::Kind::ended) ended.push_back(item.attempt.job);
    api.metrics.reports += message.items.size();
    auto response = co_await api.server.sessions().report(std::move(message));
    for (const auto job : ended) api.bells.ring(job);
    co_return answer(response);
}

Task<Response> take_logs(Api& api, const Request& request) {
    QueryReader query(request);
    const auto session = SessionId::parse(query.text("session").value_or(""));
    if (!session) query.misfit("session", "must be the id of a session");
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    LogRequest message{.session = *session};
    if (const auto misfit = read_log_frames(request.body, message.chunks))
        co_return problem(*misfit);
    std::vector<JobId> printed;
    for (const auto& chunk : message.chunks) printed.push_back(chunk.attempt.job);
    auto response = co_await api.server.sessions().logs(std::move(message), api.blobs);
    for (const auto job : printed) api.bells.ring(job);
    co_return answer(response);
}

}  // namespace perdure::handlers
