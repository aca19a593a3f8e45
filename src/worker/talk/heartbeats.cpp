#include "worker/talk/heartbeats.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/fault.h"
#include "base/probe.h"

namespace perdure {

Heartbeats::Heartbeats(WorkerContext& context, AttemptTable& table, WorkerSession& session,
                       Supervisor& supervisor, Watch& watch)
    : context_(context),
      table_(table),
      session_(session),
      supervisor_(supervisor),
      watch_(watch),
      backoff_(context.ports.random, context.options.timing.reconnect_max),
      pause_(context.make_alarm()) {}

Task<void> Heartbeats::run() {
    const auto period = context_.options.timing.heartbeat;
    while (!context_.stop.requested()) {
        if (!session_.is_open()) {
            co_await context_.heartbeat_bell->wait(period);
            continue;
        }
        const auto began = context_.now();
        const bool answered = co_await beat();
        if (context_.stop.requested()) break;
        if (answered) {
            backoff_.reset();
            const auto next = std::max(began + period - context_.now(), Duration{});
            co_await context_.heartbeat_bell->wait(next);
        } else {
            co_await pause_->wait(backoff_.next());
        }
    }
}

HeartbeatRequest Heartbeats::build() {
    const auto& timing = context_.options.timing;
    const bool detaches = context_.mode == WorkerMode::detaching;
    return {.session = session_.id(),
            .number = ++last_number_,
            .seen = session_.numbers().name(),
            .slots = context_.slots(),
            .draining = context_.mode != WorkerMode::working,
            .offer = context_.options.offer,
            .lease = detaches ? timing.detach_lease : timing.lease,
            .attempts = table_.for_heartbeat(),
            .tick_seen = session_.tick_seen(),
            .progress = table_.notes()};
}

Task<bool> Heartbeats::beat() {
    watch_.before_sending();
    auto request = build();
    const Sent sent{.session = request.session,
                    .server = session_.server(),
                    .at = context_.now(),
                    .lease = request.lease,
                    .mode = context_.mode,
                    .listed = request.attempts};
    if (strikes(Fault::worker_heartbeat_lost)) {
        failed(sent, error(Errc::unavailable, "fault point worker.heartbeat_lost"));
        co_return false;
    }
    auto answer = co_await context_.ports.servers.heartbeat(sent.server, std::move(request));
    if (context_.stop.requested()) co_return true;
    if (!answer) {
        failed(sent, answer.error());
        co_return false;
    }
    if (session_.is(sent.session)) obey(sent, std::move(*answer));
    co_return true;
}

void Heartbeats::failed(const Sent& sent, const Error& why) {
    reached<"worker_heartbeat_failed">();
    session_.unanswered();
    context_.log.write(Level::info, "heartbeat failed", "server", sent.server, "why", why.what);
    if (why.code != Errc::overloaded) session_.move_on(sent.server);
}

// A claim may have been made while the first heartbeat that said so was looked at; the second one
// is certain to show it.
void Heartbeats::announced(WorkerMode mode) {
    if (mode != context_.mode) return;
    ++context_.announced;
    if (mode == WorkerMode::draining && context_.announced == 1) context_.heartbeat_bell->ring();
    context_.drain_bell->ring();
}

// The answer has shown that what was listed and not stopped is in `run`; of anything else it says
// nothing, and a lease that ended meanwhile may have given it away.
void Heartbeats::renew(const Sent& sent, const std::vector<AttemptKey>& stopped) {
    const auto until = sent.at + sent.lease;
    session_.raise_lease(until);
    const std::set<AttemptKey> gone(stopped.begin(), stopped.end());
    for (const auto& listed : sent.listed) {
        auto* attempt = table_.find(listed.attempt);
        if (attempt && !gone.contains(listed.attempt)) attempt->raise_lease(until);
    }
    // At once: a worker that detaches is gone before its watch comes round again (L2).
    watch_.notify_shims();
    supervisor_.start_what_waits();  // for a lease that is good
}

void Heartbeats::obey(const Sent& sent, HeartbeatAnswerMessage answer) {
    session_.saw_tick(answer.tick);
    session_.answered();
    switch (answer.answer) {
        case HeartbeatAnswer::ignore: reached<"worker_heartbeat_ignored">(); return;
        case HeartbeatAnswer::session_ended:
        case HeartbeatAnswer::cloned: session_.ended(); return;
        case HeartbeatAnswer::accept: break;
    }
    // First what is not ours any more: the renewed lease must not reach it.
    for (const auto key : answer.stop) {
        reached<"worker_told_to_stop">();
        supervisor_.disown(key);
    }
    renew(sent, answer.stop);
    announced(sent.mode);
    for (const auto& order : answer.kill) supervisor_.kill(order.attempt, order.cause);
    for (const auto key : answer.recall) supervisor_.hand_back(key);
    for (auto& assignment : answer.resent) {
        reached<"worker_got_an_assignment_again">();
        supervisor_.take(std::move(assignment));
    }
}

}  // namespace perdure
