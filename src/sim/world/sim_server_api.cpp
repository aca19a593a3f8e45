#include "sim/world/sim_server_api.h"

#include <utility>

namespace perdure::sim {
namespace {

class PipeOutbox final : public Outbox {
public:
    explicit PipeOutbox(std::shared_ptr<StreamPipe> pipe) : pipe_(std::move(pipe)) {}
    void send(StreamMessage message) override { pipe_->send(std::move(message)); }
    void close() override { pipe_->break_off(); }

private:
    std::shared_ptr<StreamPipe> pipe_;
};

class PipeStream final : public Stream {
public:
    explicit PipeStream(std::shared_ptr<StreamPipe> pipe) : pipe_(std::move(pipe)) {}
    Task<Result<std::vector<StreamMessage>>> next() override { co_return co_await pipe_->next(); }
    void close() override { pipe_->break_off(); }

private:
    std::shared_ptr<StreamPipe> pipe_;
};

}  // namespace

void StreamPipe::send(StreamMessage message) {
    if (broken_) return;
    auto& parts = cluster_.parts();
    // A kill order on the stream is a hint: the heartbeat's answer carries it as well.
    const bool hint =
        std::holds_alternative<KillOrder>(message) || std::holds_alternative<RecallOrder>(message);
    if (hint && parts.plan.all_hints_dropped) return;
    if (auto* tap = parts.network.tap()) {
        const Message seen{
            .what = names_of(message),
            .sender = from_.value,
            .target = to_.value,
            .go_on = [self = shared_from_this(), message] { self->arrive(message); }};
        if (tap->takes(seen)) return;
    }
    last_arrival_ =
        std::max(last_arrival_ + microseconds(1), parts.world.now() + parts.network.delay());
    parts.world.at(last_arrival_, Life{},
                   [self = shared_from_this(), message] { self->arrive(message); });
}

void StreamPipe::arrive(StreamMessage message) {
    if (broken_) return;
    auto& parts = cluster_.parts();
    if (parts.network.is_cut(from_, to_)) {  // the kernel goes on trying
        last_arrival_ = std::max(last_arrival_, parts.world.now() + milliseconds(200));
        parts.world.after(milliseconds(200), Life{},
                          [self = shared_from_this(), message] { self->arrive(message); });
        return;
    }
    arrived_.push_back(std::move(message));
    if (waiting_) parts.world.wake(*waiting_);
}

void StreamPipe::break_off() {
    if (std::exchange(broken_, true)) return;
    if (waiting_) cluster_.parts().world.wake(*waiting_);
}

Task<Result<std::vector<StreamMessage>>> StreamPipe::next() {
    while (arrived_.empty() && !broken_) {
        co_await suspend([this](Suspended me) {
            waiting_ = cluster_.parts().world.park(reader_, std::move(me));
        });
        waiting_.reset();
    }
    if (broken_) co_return error(Errc::unavailable, "the stream has ended");
    std::vector<StreamMessage> messages(std::make_move_iterator(arrived_.begin()),
                                        std::make_move_iterator(arrived_.end()));
    arrived_.clear();
    co_return messages;
}

template <class Reply, class Handle>
Task<Result<Reply>> SimServerApi::call(std::size_t server, std::string what, Handle handle) {
    auto& cluster = cluster_;
    SimNetwork::Call<Reply> call{
        .caller = life_,
        .from = worker_,
        .to = cluster.server(server).node,
        .timeout = cluster.parts().plan.timing.call_timeout,
        .serve =
            [&cluster, server, handle](std::function<void(Result<Reply>)> answer) {
                cluster.serve<Reply>(server, std::move(answer), handle);
            },
        .what = std::move(what)};
    co_return co_await cluster_.parts().network.call<Reply>(std::move(call));
}

Task<Result<OpenAnswer>> SimServerApi::open(std::size_t server, OpenRequest request) {
    return call<OpenAnswer>(server, "open ",
                            [request](Server& target) { return target.sessions().open(request); });
}

Task<Result<HeartbeatAnswerMessage>> SimServerApi::heartbeat(std::size_t server,
                                                             HeartbeatRequest request) {
    return call<HeartbeatAnswerMessage>(server, "heartbeat ", [request](Server& target) {
        return target.sessions().heartbeat(request);
    });
}

Task<Result<ReportResponse>> SimServerApi::report(std::size_t server, ReportRequest request) {
    auto names = cluster_.parts().network.tap() ? names_of(request) : std::string{};
    return call<ReportResponse>(server, std::move(names), [request](Server& target) {
        return target.sessions().report(request);
    });
}

Task<Result<LogResponse>> SimServerApi::logs(std::size_t server, LogRequest request) {
    auto& cluster = cluster_;
    return call<LogResponse>(server, "logs ", [&cluster, server, request](Server& target) {
        return target.sessions().logs(request, *cluster.server(server).blobs);
    });
}

Task<Result<std::shared_ptr<Stream>>> SimServerApi::open_stream(std::size_t server,
                                                                SessionId session) {
    auto& node = cluster_.server(server);
    auto pipe = std::make_shared<StreamPipe>(cluster_, life_, node.node, worker_);
    std::erase_if(node.streams, [](const auto& stream) { return stream.expired(); });
    node.streams.push_back(pipe);
    auto open = [session, pipe](Server& target) {
        return target.sessions().open_stream(session, std::make_shared<PipeOutbox>(pipe));
    };
    auto opened = co_await call<std::uint64_t>(server, "stream ", std::move(open));
    if (!opened) {
        pipe->break_off();
        co_return opened.error();
    }
    co_return std::shared_ptr<Stream>(std::make_shared<PipeStream>(std::move(pipe)));
}

}  // namespace perdure::sim
