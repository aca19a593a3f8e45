#include "worker/talk/inside_calls.h"

#include <utility>

#include "base/probe.h"
#include "worker/talk/backoff.h"

namespace perdure {
namespace {

// What may be different when it is asked again.
bool may_change(Errc code) {
    return code == Errc::unavailable || code == Errc::outcome_unknown || code == Errc::overloaded ||
           code == Errc::corrupt;
}

}  // namespace

void InsideCalls::take(ProcessEvent event) {
    const auto key = event.attempt;
    // The shim asks one after another; it has given up what is still under way.
    if (!is_wanted(key) || !under_way_.insert(key).second) {
        const auto why = error(Errc::unavailable, "the worker is busy with the one before");
        context_.ports.processes.reply(key, event.call.number, refused_inside(why));
        return;
    }
    context_.gate.spawn("inside", carry(key, std::move(event.call)));
}

bool InsideCalls::is_wanted(AttemptKey attempt) const {
    const auto* known = const_cast<AttemptTable&>(table_).find(attempt);
    return known && known->phase != Attempt::Phase::ended && !context_.stop.requested();
}

Task<void> InsideCalls::carry(AttemptKey attempt, InsideCall call) {
    const auto give_up_at = context_.now() + context_.options.timing.progress_patience;
    const auto pause = context_.make_alarm();
    Backoff backoff(context_.ports.random, context_.options.timing.reconnect_max);
    std::optional<InsideReply> reply;
    while (is_wanted(attempt) && context_.now() < give_up_at) {
        if (session_.is_open()) reply = co_await ask(call);
        if (reply) break;
        co_await pause->wait(backoff.next());
    }
    under_way_.erase(attempt);
    if (context_.stop.requested()) co_return;  // the next worker is asked again
    if (!reply) reply = refused_inside(error(Errc::unavailable, "no server has answered in time"));
    context_.ports.processes.reply(attempt, call.number, std::move(*reply));
}

Task<std::optional<InsideReply>> InsideCalls::ask(InsideCall call) {
    const auto server = session_.server();
    call.session = session_.id();
    const auto session = call.session;
    auto reply = co_await context_.ports.servers.inside(server, std::move(call));
    if (reply) co_return std::move(*reply);
    const auto& why = reply.error();
    if (may_change(why.code)) {
        if (why.code != Errc::overloaded) session_.move_on(server);
        co_return std::nullopt;
    }
    // What an ended session may do says nothing about the one that took its attempts over.
    if (why.code == Errc::fenced && !session_.is(session)) co_return std::nullopt;
    if (why.code == Errc::fenced) reached<"worker_inside_fenced">();
    co_return refused_inside(why);
}

}  // namespace perdure
