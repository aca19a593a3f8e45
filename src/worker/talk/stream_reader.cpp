#include "worker/talk/stream_reader.h"

#include <utility>
#include <variant>

#include "base/fault.h"
#include "base/probe.h"

namespace perdure {

StreamReader::StreamReader(WorkerContext& context, WorkerSession& session, Supervisor& supervisor,
                           std::function<void()> drain)
    : context_(context),
      session_(session),
      supervisor_(supervisor),
      drain_(std::move(drain)),
      backoff_(context.ports.random, context.options.timing.reconnect_max),
      pause_(context.make_alarm()) {}

Task<void> StreamReader::run() {
    while (!context_.stop.requested()) {
        if (!session_.is_open()) {
            co_await context_.stream_bell->wait(minutes(1));
            continue;
        }
        co_await read_one();
        if (context_.stop.requested()) break;
        if (session_.is_open()) co_await pause_->wait(backoff_.next());
    }
}

Task<void> StreamReader::read_one() {
    const auto session = session_.id();
    const auto server = session_.server();
    auto stream = co_await context_.ports.servers.open_stream(server, session);
    if (!stream) {
        context_.log.write(Level::info, "no stream", "server", server, "why", stream.error().what);
        if (stream.is(Errc::fenced)) context_.heartbeat_bell->ring();  // is the session over?
        session_.move_on(server);
        co_return;
    }
    const bool wanted = session_.is(session) && session_.server() == server;
    if (!wanted || context_.stop.requested()) {
        reached<"worker_stream_came_too_late">();
        (*stream)->close();
        co_return;
    }
    session_.attach(*stream);
    // A server that has just started gives nothing to a session before it has heard it (T4).
    if (std::exchange(has_had_one_, true)) context_.heartbeat_bell->ring();
    const auto opened_at = context_.now();
    co_await read(std::move(*stream), session);
    const bool lasted = context_.now() - opened_at >= context_.options.timing.reconnect_max;
    if (lasted) backoff_.reset();
    if (session_.is(session)) session_.move_on(server);
}

Task<void> StreamReader::read(std::shared_ptr<Stream> stream, SessionId session) {
    while (true) {
        auto messages = co_await stream->next();
        if (!messages) {
            reached<"worker_stream_broke">();
            co_return;
        }
        // What an earlier session was given has been settled when the new one was opened.
        if (context_.stop.requested() || !session_.is(session)) co_return;
        for (auto& message : *messages) {
            auto* assignment = std::get_if<Assignment>(&message);
            if (assignment && strikes(Fault::worker_assignment_lost)) continue;
            if (assignment)
                supervisor_.take(std::move(*assignment));
            else if (const auto* order = std::get_if<KillOrder>(&message))
                supervisor_.kill(order->attempt, order->cause);
            else if (const auto* recall = std::get_if<RecallOrder>(&message))
                supervisor_.hand_back(recall->attempt);
            else
                drain_();
        }
    }
}

}  // namespace perdure
