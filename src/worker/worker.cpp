#include "worker/worker.h"

#include <utility>

#include "base/probe.h"
#include "core/worker/worker_rules.h"

namespace perdure {

Worker::Worker(WorkerPorts ports, WorkerOptions options, Log log)
    : context_(ports, std::move(options), std::move(log)),
      session_(context_),
      inside_(context_, table_, session_),
      supervisor_(context_, table_, session_, inside_),
      watch_(context_, table_, supervisor_),
      opener_(context_, table_, session_, supervisor_, watch_),
      heartbeats_(context_, table_, session_, supervisor_, watch_),
      stream_reader_(context_, session_, supervisor_, [this] { drain(); }),
      reporter_(context_, table_, session_, supervisor_, watch_),
      log_shipper_(context_, table_, session_),
      events_gate_(ports.clock.executor()),
      pause_(context_.make_alarm()) {}

void Worker::start() { context_.gate.spawn("session", live()); }

void Worker::drain() {
    if (context_.mode != WorkerMode::working) return;
    enter(WorkerMode::draining);
    context_.gate.spawn("drain", leave_drained());
}

// Also while it drains: what has not ended by then is left to the next life.
void Worker::detach() {
    if (context_.mode == WorkerMode::detaching) return;
    const bool drains = context_.mode == WorkerMode::draining;
    enter(WorkerMode::detaching);
    if (drains) return context_.drain_bell->ring();  // whoever drains goes on with it
    context_.gate.spawn("detach", leave_detached());
}

void Worker::enter(WorkerMode mode) {
    context_.mode = mode;
    context_.announced = 0;
    context_.heartbeat_bell->ring();
}

bool Worker::is_announced() const {
    const std::uint32_t wanted = context_.mode == WorkerMode::draining ? 2 : 1;
    return session_.is_open() && context_.announced >= wanted;
}

Task<void> Worker::leave_drained() {
    const auto began_at = context_.now();
    bool evicted = false;
    while (!context_.stop.requested()) {
        if (context_.mode == WorkerMode::detaching) {
            co_await leave_detached();
            co_return;
        }
        supervisor_.hand_back_unstarted();
        const auto decision = decide_leave({.has_attempts = !table_.empty(),
                                            .announced = is_announced(),
                                            .has_session = session_.is_open(),
                                            .draining_for = context_.now() - began_at},
                                           context_.options.timing);
        if (decision.evict && !std::exchange(evicted, true)) supervisor_.evict_all();
        if (decision.leave) break;
        co_await context_.drain_bell->wait(milliseconds(500));
    }
    stop();
}

Task<void> Worker::leave_detached() {
    const auto deadline = context_.now() + context_.options.timing.call_timeout * 2;
    while (!context_.stop.requested() && !is_announced() && context_.now() < deadline)
        co_await context_.drain_bell->wait(deadline - context_.now());
    if (!is_announced()) {
        reached<"worker_detached_without_a_longer_lease">();
        context_.log.write(Level::warn, "detached without a longer lease");
    }
    stop();
}

void Worker::stop() {
    if (context_.stop.requested()) return;
    if (context_.directory_is_open) context_.ports.processes.stopped_cleanly();
    session_.close_stream();
    context_.stop.request();
    context_.log.write(Level::info, "stopped");
}

void Worker::rings(Alarm& observer) {
    context_.gate.when_empty(observer);
    context_.when_opened = &observer;
}

bool Worker::finished() const { return context_.stop.requested() && context_.gate.empty(); }

Task<void> Worker::live() {
    auto life = co_await open_directory();
    if (context_.stop.requested()) co_return;
    if (!life) {
        context_.log.write(Level::critical, "no state directory", "why", life.error().what);
        failure_ = life.error();
        context_.stop.request();
        co_return;
    }
    context_.directory_is_open = true;
    context_.options.offer.host = life->host;
    supervisor_.adopt(*life);
    events_gate_.spawn("process events", supervisor_.follow_events());
    context_.gate.spawn("watch", watch_.run());
    context_.gate.spawn("heartbeat", heartbeats_.run());
    context_.gate.spawn("stream", stream_reader_.run());
    context_.gate.spawn("report", reporter_.run());
    context_.gate.spawn("output", log_shipper_.run());
    co_await opener_.run(life->directory, life->life);
}

// The worker before us may be on its way out: its lock is tried for a while (L1).
Task<Result<WorkerLife>> Worker::open_directory() {
    const auto deadline = context_.now() + seconds(3);
    while (true) {
        auto life = co_await context_.ports.processes.open();
        if (life || context_.stop.requested() || context_.now() >= deadline) co_return life;
        co_await pause_->wait(milliseconds(100));
    }
}

}  // namespace perdure
