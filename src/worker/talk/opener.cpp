#include "worker/talk/opener.h"

#include <utility>

#include "base/probe.h"

namespace perdure {

Opener::Opener(WorkerContext& context, AttemptTable& table, WorkerSession& session,
               Supervisor& supervisor, Watch& watch)
    : context_(context),
      table_(table),
      session_(session),
      supervisor_(supervisor),
      watch_(watch),
      backoff_(context.ports.random, context.options.timing.reconnect_max),
      pause_(context.make_alarm()) {}

Task<void> Opener::run(StateDirectory directory, std::uint64_t life) {
    directory_ = std::move(directory);
    message_ = write(life);
    if (const auto& died_at = context_.options.died_at)
        message_.request.away = context_.now() - *died_at;
    while (!context_.stop.requested()) {
        co_await open();
        while (session_.is_open() && !context_.stop.requested())
            co_await context_.opening_bell->wait(minutes(1));
        if (context_.stop.requested()) break;
        reached<"worker_session_reopened">();
        co_await begin_next_life();
    }
}

Opener::Message Opener::write(std::uint64_t life) const {
    return {.request = {.directory = directory_,
                        .life = life,
                        .worker = context_.options.name,
                        .slots = context_.slots(),
                        .offer = context_.options.offer,
                        .on_disk = table_.for_opening()},
            .first_sent = context_.now()};
}

Task<void> Opener::open() {
    while (!context_.stop.requested()) {
        // The longer it is repeated, the shorter is the lease that its answer is good for.
        if (context_.now() - message_.first_sent > context_.options.timing.lease / 2) {
            reached<"worker_opening_grew_old">();
            co_await begin_next_life();
            if (context_.stop.requested()) co_return;
        }
        watch_.before_sending();
        const auto server = session_.server();
        auto answer = co_await context_.ports.servers.open(server, message_.request);
        if (context_.stop.requested()) co_return;
        if (answer) {
            backoff_.reset();
            session_.opened(answer->session, message_.first_sent + answer->lease);
            supervisor_.start_what_waits();
            co_return;
        }
        co_await refused(server, answer.error());
    }
}

Task<void> Opener::refused(std::size_t server, Error why) {
    context_.log.write(Level::warn, "no session yet", "server", server, "why", why.what);
    if (why.code == Errc::fenced) {
        reached<"worker_opening_fenced">();
        co_await pause_->wait(backoff_.next());
        co_await begin_next_life();
        co_return;
    }
    if (why.code == Errc::conflict) {
        reached<"worker_refused_as_a_clone">();
        co_await pause_->wait(context_.options.timing.reconnect_max);
        co_return;
    }
    if (why.code != Errc::overloaded) session_.move_on(server);
    co_await pause_->wait(backoff_.next());
}

Task<void> Opener::begin_next_life() {
    while (!context_.stop.requested()) {
        const auto life = co_await context_.ports.processes.next_life();
        if (life) {
            message_ = write(*life);
            co_return;
        }
        context_.log.write(Level::error, "no new life", "why", life.error().what);
        co_await pause_->wait(backoff_.next());
    }
}

}  // namespace perdure
