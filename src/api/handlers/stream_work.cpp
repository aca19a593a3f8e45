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

constexpr auto keep_alive_every = seconds(1);

class StreamOutbox final : public Outbox {
public:
    StreamOutbox(Clock& clock, ChunkedBody& body, std::shared_ptr<ByteBudget> bytes)
        : alarm_(clock.make_alarm()),
          body_(&body),
          share_(stream_share(bytes->budget())),
          held_(std::move(bytes)) {}

    void send(StreamMessage message) override {
        if (closed_) return;
        const bool behind = pending_.size() + under_way_ > 0;
        append_json(pending_, message);
        pending_ += '\n';
        const auto backlog = pending_.size() + under_way_;
        // One message may be large; a worker that is behind may not have more than its share.
        const bool too_much = behind && backlog > share_;
        if (too_much || !held_.resize(backlog, bytes_for(Peer::worker, backlog))) cut();
        alarm_->ring();
    }
    // The connection ends: nothing more can be sent.
    void detach() { body_ = nullptr; }
    void close() override {
        closed_ = true;
        alarm_->ring();
    }

    Alarm& alarm() { return *alarm_; }
    Task<void> wait() { return alarm_->wait(keep_alive_every); }
    // What is to be sent; an empty line, if there is nothing, says that we live.
    std::string take() {
        under_way_ = pending_.size();
        return pending_.empty() ? "\n" : std::exchange(pending_, {});
    }
    void sent() {
        under_way_ = 0;
        held_.resize_anyway(pending_.size());
    }
    bool closed() const { return closed_; }
    bool was_cut() const { return cut_; }

private:
    // What is pending is not kept: it comes with the answer to the next heartbeat.
    void cut() {
        cut_ = closed_ = true;
        pending_ = {};
        held_.resize_anyway(under_way_);
        if (body_) body_->give_up();
    }

    std::unique_ptr<Alarm> alarm_;
    ChunkedBody* body_;  // null once nobody waits for it any more
    std::size_t share_;
    ByteCharge held_;  // for the backlog: what is pending and what is under way
    std::string pending_;
    std::size_t under_way_ = 0;  // bytes that the connection is writing
    bool closed_ = false;
    bool cut_ = false;
};

// The dispatcher may hold an outbox longer than its connection lives.
struct Detaching {
    StreamOutbox& outbox;
    ~Detaching() { outbox.detach(); }
};

}  // namespace

Task<Response> stream_work(Api& api, const Request& request, ChunkedBody& body) {
    QueryReader query(request);
    const auto session = SessionId::parse(query.text("session").value_or(""));
    if (!session) query.parse_error("session", "must be the id of a session");
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);

    const auto outbox = std::make_shared<StreamOutbox>(api.clock, body, api.bytes);
    const Detaching at_the_end{*outbox};
    const Bells::Listening until_the_server_stops(api.bells, JobId{}, outbox->alarm());
    auto stream = co_await api.server.sessions().open_stream(*session, outbox);
    if (!stream) co_return problem(stream.error());
    Response head{.content_type = "application/x-ndjson"};
    bool connected = co_await body.begin(std::move(head));
    while (connected && !outbox->closed() && !api.stopping) {
        connected = co_await body.send(outbox->take(), CountedBy::caller);
        outbox->sent();
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
