// POST /v1/worker/…: what workers say (docs/protocol/worker.md).
#include <algorithm>

#include "api/handlers/handlers.h"
#include "api/http/problem.h"
#include "api/http/query.h"
#include "wire/log_frames.h"
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

std::size_t size_of(const Assignment& assignment) {
    auto size = assignment.spec->args.size() + assignment.checkpoint.size();
    for (const auto& word : assignment.spec->argv) size += word.size();
    for (const auto& [name, value] : assignment.spec->env) size += name.size() + value.size();
    for (const auto& input : assignment.inputs) size += input.result.size();
    return size;
}

// As many as one answer may carry, the lowest numbers first: what is left out is above what the
// worker has seen, and comes with the next answer (O6).
void keep_what_fits(std::vector<Assignment>& resent, std::size_t most) {
    std::ranges::sort(resent, {}, &Assignment::number);
    std::size_t size = 0;
    for (std::size_t i = 0; i < resent.size(); ++i) {
        size += size_of(resent[i]);
        if (i > 0 && size > most) return resent.resize(i);
    }
}

}  // namespace

Task<Response> open_session(Api& api, const Request& request) {
    OpenRequest message;
    if (const auto parse_error = from_json(request.body, message)) co_return problem(*parse_error);
    co_return answer(co_await api.server.sessions().open(std::move(message)));
}

Task<Response> take_heartbeat(Api& api, const Request& request) {
    HeartbeatRequest message;
    if (const auto parse_error = from_json(request.body, message)) co_return problem(*parse_error);
    api.server.meter().heard(message.session, api.clock.boot());
    auto reply = co_await api.server.sessions().heartbeat(std::move(message));
    if (reply) keep_what_fits(reply->resent, stream_share(api.bytes->budget()));
    co_return answer(reply);
}

Task<Response> take_report(Api& api, const Request& request) {
    ReportRequest message;
    if (const auto parse_error = from_json(request.body, message)) co_return problem(*parse_error);
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
    if (!session) query.parse_error("session", "must be the id of a session");
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    LogRequest message{.session = *session};
    if (const auto parse_error = read_log_frames(request.body, message.chunks))
        co_return problem(*parse_error);
    std::vector<JobId> printed;
    for (const auto& chunk : message.chunks) printed.push_back(chunk.attempt.job);
    auto response = co_await api.server.sessions().logs(std::move(message), api.blobs);
    for (const auto job : printed) api.bells.ring(job);
    co_return answer(response);
}

}  // namespace perdure::handlers
