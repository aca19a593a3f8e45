#include "server/server.h"

#include <utility>

#include "server/next_of.h"

namespace perdure {
namespace {

ServerId draw_incarnation(Random& random) { return ServerId{(random.next() >> 1) | 1}; }

}  // namespace

Server::Server(ServerPorts ports, Timing timing, Log log)
    : clock_(ports.clock),
      me_(draw_incarnation(ports.random)),
      log_(log),
      commits_(ports.store, ports.clock, {.lane_max = ports.lane_max, .timing = timing},
               ports.fatal, log),
      sweeper_(ports.store, ports.clock, commits_, log),
      ticker_(ports.store, ports.clock, commits_, sweeper_, me_, timing, log),
      dispatcher_(ports.clock, commits_, log),
      sessions_(ports.store, commits_, dispatcher_, timing, ports.fatal, log),
      jobs_(ports.store, ports.clock, commits_, dispatcher_, timing, log),
      pruner_(ports.clock, commits_, ticker_, ports.blobs, log),
      failures_(ports.store, ports.clock, log),
      gate_(ports.clock.executor()) {
    commits_.on_work(dispatcher_);
    commits_.on_activity(ticker_.alarm());
    ticker_.rings(dispatcher_.alarm());
    commits_.on_commit([this](const Change& change, const ChangeReply& reply) {
        failures_.observe(change, reply);
        for_each_next(change, reply, [this](JobId, const Next& next) {
            if (next.kind == Next::Kind::again_after) ticker_.expect_end_of(next.wait);
        });
    });
    commits_.on_recoveries(meter_);
    commits_.on_events(job_meter_);
    sessions_.on_restarts(meter_);
    sweeper_.on_recalls([this](SessionId session, AttemptKey attempt) {
        dispatcher_.send(session, RecallOrder{attempt});
    });
}

void Server::start() { gate_.spawn("open", run()); }

Task<void> Server::run() {
    co_await commits_.open(me_, stop_);
    if (stop_.requested()) co_return;
    opened_ = true;
    if (when_opened_) when_opened_->ring();
    gate_.spawn("group commit", commits_.run(stop_));
    gate_.spawn("deadlines", commits_.watch_deadlines(stop_));
    gate_.spawn("tick and sweep", ticker_.run(stop_));
    gate_.spawn("dispatch", dispatcher_.run(stop_));
    gate_.spawn("prune", pruner_.run(stop_));
    gate_.spawn("tell failures", failures_.run(stop_));
}

void Server::stop() {
    dispatcher_.close_all();
    stop_.request();
}

}  // namespace perdure
