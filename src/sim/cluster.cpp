#include "sim/cluster.h"

#include <fmt/format.h>

#include <utility>

#include "sim/world/sim_server_api.h"

namespace perdure::sim {
namespace {

HostTime draw_host_time(Rng& rng, const Plan& plan) {
    HostTime time;
    // Real oscillators stay within 0.01 %; fifty times that must do no harm either.
    if (plan.has(Fault::drift)) time.rate = 1.0 + (rng.uniform() - 0.5) * 0.01;
    time.boot_us = rng.between(seconds(1), hours(1000)).us;
    time.wall_us = days(20'000).us - time.boot_us + rng.between(seconds(-1), seconds(1)).us;
    if (plan.has(Fault::step_wall_clock)) time.wall_us += rng.between(days(-400), days(400)).us;
    return time;
}

}  // namespace

Cluster::Cluster(Parts parts) : parts_(parts), rng_(parts.world.split_rng()) {
    for (std::uint32_t i = 0; i < parts_.plan.servers; ++i) {
        servers_.push_back(std::make_unique<ServerNode>());
        servers_.back()->node = Node{i};
        servers_.back()->time = draw_host_time(rng_, parts_.plan);
    }
    for (std::uint32_t i = 0; i < parts_.plan.workers; ++i) {
        workers_.push_back(std::make_unique<WorkerNode>());
        workers_.back()->node = Node{parts_.plan.servers + i};
        workers_.back()->host = std::make_unique<SimHost>(
            SimHost::Parts{parts_.world, parts_.plan, parts_.scripts, parts_.witness}, i,
            draw_host_time(rng_, parts_.plan));
    }
    for (std::size_t i = 0; i < servers_.size(); ++i) start_server(i);
    for (std::size_t i = 0; i < workers_.size(); ++i) start_worker(i);
}

Cluster::~Cluster() {
    for (std::size_t i = 0; i < workers_.size(); ++i) kill_worker(i, std::nullopt);
    for (std::size_t i = 0; i < servers_.size(); ++i) kill_server(i);
}

void Cluster::start_server(std::size_t i) {
    auto& node = *servers_[i];
    if (node.server || node.stays_down) return;
    auto& world = parts_.world;
    node.life = world.new_life();
    node.clock = std::make_unique<SimClock>(world, node.life, node.time);
    node.store = std::make_unique<SimStore>(parts_.database, node.life);
    node.blobs = std::make_unique<SimBlobs>(parts_.database, parts_.output, node.life);
    node.random = std::make_unique<Rng>(rng_.split());
    const auto life = node.life;
    auto give_up = [this, i, life](std::string why) {
        parts_.world.trace(fmt::format("server {}: gives up: {}", i, why));
        fatal_.push_back(std::move(why));
        // Not from inside: the process ends when it is next scheduled.
        parts_.world.after(microseconds(1), life, [this, i] {
            kill_server(i);
            parts_.world.after(seconds(1), Life{}, [this, i] { start_server(i); });
        });
    };
    Log log;
    if (parts_.log) log = Log(*parts_.log, fmt::format("server {}", i));
    ServerPorts ports{*node.store, *node.clock, *node.random, give_up, node.blobs.get()};
    if (parts_.plan.lane_max > 0) ports.lane_max = parts_.plan.lane_max;
    node.server = std::make_unique<Server>(ports, parts_.plan.timing, log);
    node.server->use(parts_.plan.book);
    node.server->start();
}

void Cluster::kill_server(std::size_t i) {
    auto& node = *servers_[i];
    if (!node.server) return;
    // First the coroutines, then what they refer to: none may be on its way to its first step.
    parts_.world.run_ready();
    parts_.world.end_life(node.life);
    node.server.reset();
    // A single server has its store in its own process.
    if (servers_.size() == 1) parts_.database.crash();
    node.blobs.reset();
    node.store.reset();
    node.clock.reset();
    reset_streams_of(i);
}

void Cluster::reset_streams_of(std::size_t i) {
    for (auto& stream : servers_[i]->streams)
        if (auto pipe = stream.lock()) pipe->break_off();
    servers_[i]->streams.clear();
}

void Cluster::start_worker(std::size_t i) {
    auto& node = *workers_[i];
    if (node.worker || node.stays_down) return;
    auto& world = parts_.world;
    node.life = world.new_life();
    node.clock = std::make_unique<SimClock>(world, node.life, node.host->time());
    node.processes = std::make_unique<SimProcesses>(*node.host, node.life);
    node.random = std::make_unique<Rng>(rng_.split());
    node.api = std::make_unique<SimServerApi>(*this, node.node, node.life);
    node.host->kill_worker = [this, i] {
        parts_.world.after(microseconds(1), Life{}, [this, i] {
            kill_worker(i, rng_.between(milliseconds(50), milliseconds(800)));
        });
    };
    Log log;
    if (parts_.log) log = Log(*parts_.log, fmt::format("worker {}", i));
    node.worker =
        std::make_unique<Worker>(WorkerPorts{*node.clock, *node.random, *node.api, *node.processes},
                                 WorkerOptions{.name = fmt::format("worker-{}", i),
                                               .slots = parts_.plan.slots,
                                               .offer = parts_.plan.offer_of(i),
                                               .timing = parts_.plan.timing},
                                 log);
    node.worker->start();
    if (node.host_paused) world.pause(node.life);
}

void Cluster::kill_worker(std::size_t i, std::optional<Duration> restart) {
    auto& node = *workers_[i];
    if (node.worker) {
        if (node.processes->clean())
            node.host->worker_stopped_cleanly();
        else
            node.host->worker_crashed();
        parts_.world.run_ready();
        parts_.world.end_life(node.life);
        node.worker.reset();
        node.api.reset();
        node.processes.reset();
        node.clock.reset();
        parts_.world.trace(fmt::format("worker {}: dead", i));
    }
    if (restart) restart_worker_after(i, *restart);
}

void Cluster::restart_worker_after(std::size_t i, Duration wait) {
    parts_.world.after(wait, Life{}, [this, i] {
        if (workers_[i]->host_paused) return restart_worker_after(i, milliseconds(500));
        start_worker(i);
    });
}

void Cluster::drain_worker(std::size_t i) {
    if (!workers_[i]->worker) return;
    workers_[i]->worker->drain();
    await_stop(i, parts_.world.now() + parts_.plan.timing.drain + seconds(15));
}

void Cluster::detach_worker(std::size_t i) {
    if (!workers_[i]->worker) return;
    workers_[i]->worker->detach();
    await_stop(i, parts_.world.now() + parts_.plan.timing.drain + seconds(15));
}

// Whoever upgrades waits for the end of the old worker, but not for ever; and some upgrades fail.
void Cluster::await_stop(std::size_t i, TrueTime patience) {
    const auto life = workers_[i]->life;
    parts_.world.after(milliseconds(200), Life{}, [this, i, life, patience] {
        auto& node = *workers_[i];
        if (node.life != life || !node.worker) return;
        const bool stopped = node.worker->finished();
        if (!stopped && parts_.world.now() < patience) return await_stop(i, patience);
        kill_worker(i, milliseconds(500));
        if (!rng_.chance(0.5)) return;
        parts_.world.after(rng_.between(milliseconds(600), seconds(3)), Life{},
                           [this, i] { kill_worker(i, seconds(40)); });
    });
}

void Cluster::reboot_host(std::size_t i, Duration down) {
    kill_worker(i, std::nullopt);
    workers_[i]->host->power_loss();
    workers_[i]->host_paused = false;
    restart_worker_after(i, down);
}

void Cluster::pause_worker(std::size_t i) { parts_.world.pause(workers_[i]->life); }

void Cluster::resume_worker(std::size_t i) {
    if (!workers_[i]->host_paused) parts_.world.resume(workers_[i]->life);
}

void Cluster::pause_host(std::size_t i) {
    workers_[i]->host_paused = true;
    pause_worker(i);
    workers_[i]->host->pause_shims();
}

void Cluster::resume_host(std::size_t i) {
    workers_[i]->host_paused = false;
    workers_[i]->host_resumed_at = parts_.world.now();
    workers_[i]->host->resume_shims();
    resume_worker(i);
}

}  // namespace perdure::sim
