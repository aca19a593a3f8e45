// Cluster: the simulated servers, workers and their hosts, wired as `main` would wire the real
// ones, and the hands of whoever breaks them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/server.h"
#include "sim/host/sim_host.h"
#include "sim/host/sim_processes.h"
#include "sim/plan.h"
#include "sim/world/sim_blobs.h"
#include "sim/world/sim_network.h"
#include "sim/world/sim_store.h"
#include "worker/worker.h"

namespace perdure::sim {

class StreamPipe;

// One server process and its watchdog.
struct ServerNode {
    Node node;
    HostTime time;
    Life life;
    std::unique_ptr<SimClock> clock;
    std::unique_ptr<SimStore> store;
    std::unique_ptr<SimBlobs> blobs;
    std::unique_ptr<Rng> random;
    std::unique_ptr<Server> server;  // nothing while it is down
    std::vector<std::weak_ptr<StreamPipe>> streams;
    bool stays_down = false;
};

// One worker process on its host, and its watchdog.
struct WorkerNode {
    Node node;
    std::unique_ptr<SimHost> host;
    Life life;
    std::unique_ptr<SimClock> clock;
    std::unique_ptr<SimProcesses> processes;
    std::unique_ptr<Rng> random;
    std::unique_ptr<ServerApi> api;
    std::unique_ptr<Worker> worker;  // nothing while it is down
    bool stays_down = false;
    bool host_paused = false;
    TrueTime host_resumed_at;
};

class Cluster {
public:
    struct Parts {
        World& world;
        const Plan& plan;
        SimNetwork& network;
        SimDatabase& database;
        const Scripts& scripts;
        Witness& witness;
        KeptOutput& output;
        LogSink* log = nullptr;
    };
    explicit Cluster(Parts parts);
    ~Cluster();

    void start_server(std::size_t i);
    void kill_server(std::size_t i);
    void start_worker(std::size_t i);
    // kill -9 of the worker; its watchdog starts it again after `restart`, if given.
    void kill_worker(std::size_t i, std::optional<Duration> restart);
    void drain_worker(std::size_t i);
    void detach_worker(std::size_t i);
    void reboot_host(std::size_t i, Duration down);
    void pause_worker(std::size_t i);
    void resume_worker(std::size_t i);
    void pause_host(std::size_t i);
    void resume_host(std::size_t i);
    void reset_streams_of(std::size_t server);
    // Nothing runs on a frozen machine; what is overdue dies in the instant it wakes.
    bool is_frozen(std::size_t host) const {
        const auto& node = *workers_[host];
        return node.host_paused || parts_.world.now() - node.host_resumed_at < milliseconds(1);
    }

    std::size_t server_count() const { return servers_.size(); }
    std::size_t worker_count() const { return workers_.size(); }
    ServerNode& server(std::size_t i) { return *servers_[i]; }
    WorkerNode& worker(std::size_t i) { return *workers_[i]; }
    Node client_node(std::size_t i) const {
        return Node{static_cast<std::uint32_t>(servers_.size() + workers_.size() + i)};
    }
    Parts& parts() { return parts_; }
    // Reasons why servers gave up their lives, in order.
    const std::vector<std::string>& fatal_reasons() const { return fatal_; }

    // Runs `handle` on the server's present life when the message arrives. `answer` gets an error
    // if there is no such life; nothing at all if it ends meanwhile.
    template <class Reply, class Handle>
    void serve(std::size_t server, std::function<void(Result<Reply>)> answer, Handle handle);

private:
    void await_stop(std::size_t i, TrueTime patience);
    void restart_worker_after(std::size_t i, Duration wait);

    Parts parts_;
    Rng rng_;
    std::vector<std::unique_ptr<ServerNode>> servers_;
    std::vector<std::unique_ptr<WorkerNode>> workers_;
    std::vector<std::string> fatal_;
};

template <class Reply>
Task<void> answer_with(Task<Result<Reply>> task, std::function<void(Result<Reply>)> answer) {
    auto reply = co_await std::move(task);
    answer(std::move(reply));
}

template <class Reply, class Handle>
void Cluster::serve(std::size_t server, std::function<void(Result<Reply>)> answer, Handle handle) {
    auto& node = *servers_[server];
    if (!node.server) {
        answer(error(Errc::unavailable, "connection refused"));
        return;
    }
    // On the server's own life: a paused server accepts nothing until it goes on.
    parts_.world.at(parts_.world.now(), node.life, [this, server, answer, handle] {
        auto& target = *servers_[server];
        if (target.server) parts_.world.spawn(answer_with<Reply>(handle(*target.server), answer));
    });
}

}  // namespace perdure::sim
