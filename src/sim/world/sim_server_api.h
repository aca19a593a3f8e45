// SimServerApi: a worker's way to the servers through the simulated network.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "ports/server_api.h"
#include "server/dispatcher.h"
#include "sim/cluster.h"

namespace perdure::sim {

// The pipe of one stream: the server writes, the worker reads. In order; nothing is lost before it
// breaks, and then everything that has not arrived is.
class StreamPipe : public std::enable_shared_from_this<StreamPipe> {
public:
    StreamPipe(Cluster& cluster, Life reader, Node from, Node to)
        : cluster_(cluster), reader_(reader), from_(from), to_(to) {}

    void send(StreamMessage message);
    void break_off();
    Task<Result<std::vector<StreamMessage>>> next();

private:
    void arrive(StreamMessage message);

    Cluster& cluster_;
    Life reader_;
    Node from_;
    Node to_;
    TrueTime last_arrival_;
    bool broken_ = false;
    std::deque<StreamMessage> arrived_;
    std::optional<Ticket> waiting_;
};

class SimServerApi final : public ServerApi {
public:
    SimServerApi(Cluster& cluster, Node worker, Life life)
        : cluster_(cluster), worker_(worker), life_(life) {}

    std::size_t server_count() const override { return cluster_.server_count(); }
    Task<Result<OpenAnswer>> open(std::size_t server, OpenRequest request) override;
    Task<Result<std::shared_ptr<Stream>>> open_stream(std::size_t server,
                                                      SessionId session) override;
    Task<Result<HeartbeatAnswerMessage>> heartbeat(std::size_t server,
                                                   HeartbeatRequest request) override;
    Task<Result<ReportResponse>> report(std::size_t server, ReportRequest request) override;
    Task<Result<LogResponse>> logs(std::size_t server, LogRequest request) override;
    // Simulated jobs ask for nothing from inside: the contract says what counts.
    Task<Result<InsideReply>> inside(std::size_t, InsideCall) override {
        co_return error(Errc::unavailable, "no simulated job asks for anything");
    }

private:
    template <class Reply, class Handle>
    Task<Result<Reply>> call(std::size_t server, std::string what, Handle handle);

    Cluster& cluster_;
    Node worker_;
    Life life_;
};

}  // namespace perdure::sim
