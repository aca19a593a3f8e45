// GET /v1/worker/stream: assignments and kill orders, down to one worker. All messages of one turn
// of the loop leave in one write; a worker that does not read is cut off, not buffered for ever.
#include <memory>
#include <utility>

#include "api/handlers/handlers.h"
#include "api/http/problem.h"
#include "api/http/query.h"
#include "wire/worker_json.h"

namespace perdure::handlers {
namespace {

constexpr std::size_t unread_max = std::size_t{16} << 20;
constexpr auto keep_alive_every = seconds(1);

class StreamOutbox final : public Outbox {
public:
    explicit StreamOutbox(Clock& clock) : alarm_(clock.make_alarm()) {}

    void send(StreamMessage message) override {
        if (closed_) return;
        append_json(pending_, message);
        pending_ += '\n';
        if (pending_.size() > unread_max) cut_ = closed_ = true;
        alarm_->ring();
    }
    void close() override {
        closed_ = true;
        alarm_->ring();
    }

    Alarm& alarm() { return *alarm_; }
    Task<void> wait() { return alarm_->wait(keep_alive_every); }
    // What is to be sent; an empty line, if there is nothing, says that we live.
    std::string take() { return pending_.empty() ? "\n" : std::exchange(pending_, {}); }
    bool closed() const { return closed_; }
    bool was_cut() const { return cut_; }

private:
    std::unique_ptr<Alarm> alarm_;
    std::string pending_;
    bool closed_ = false;
    bool cut_ = false;
};

}  // namespace

Task<Response> stream_work(Api& api, const Request& request, ChunkedBody& body) {
    QueryReader query(request);
    const auto session = SessionId::parse(query.text("session").value_or(""));
    if (!session) query.misfit("session", "must be the id of a session");
    if (const auto misfit = query.finish()) co_return problem(*misfit);

    const auto outbox = std::make_shared<StreamOutbox>(api.clock);
    const Bells::Listening until_the_server_stops(api.bells, JobId{}, outbox->alarm());
    auto stream = co_await api.server.sessions().open_stream(*session, outbox);
    if (!stream) co_return problem(stream.error());
    Response head{.content_type = "application/x-ndjson"};
    bool connected = co_await body.begin(std::move(head));
    while (connected && !outbox->closed() && !api.stopping) {
        connected = co_await body.send(outbox->take());
        if (connected) co_await outbox->wait();
        connected = connected && !body.peer_is_gone();
    }
    // It is still there and did not read: what it missed comes with the next heartbeat's answer.
    const bool too_slow = outbox->was_cut() || (!connected && !body.peer_is_gone());
    if (too_slow) ++api.metrics.streams_cut;
    outbox->close();
    api.server.sessions().close_stream(*session, *stream);
    co_return Response{.status = connected && !too_slow ? 200U : 503U};
}

}  // namespace perdure::handlers
