#include "server/dispatcher.h"

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "base/probe.h"

namespace perdure {

Dispatcher::Dispatcher(Clock& clock, GroupCommit& commits, Log log)
    : commits_(commits), log_(std::move(log)), alarm_(clock.make_alarm()) {}

Task<void> Dispatcher::run(Stop& stop) {
    stop.wakes(*alarm_);
    bool more = false;
    while (!stop.requested()) {
        if (!more) co_await alarm_->wait(hours(1));
        if (!commits_.healthy()) {
            close_all();
            more = false;
            continue;
        }
        more = co_await claim_for_all();
    }
}

// One group for all sessions, each time beginning with another one, so that the first in the map
// does not always eat first. True if somebody got as much as one claim may give, or could only
// block what it looked at: a million jobs behind one key do not hold up what stands behind them.
Task<bool> Dispatcher::claim_for_all() {
    std::vector<std::pair<SessionId, std::uint64_t>> asked;
    for (const auto& [session, a] : attached_) asked.emplace_back(session, a.stream);
    if (asked.empty()) co_return false;
    std::rotate(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(turn_++ % asked.size()),
                asked.end());
    std::vector<Change> claims;
    for (const auto& [session, stream] : asked)
        claims.push_back(Claim{.session = session, .stream = stream, .max = claim_max});
    auto replies = co_await commits_.commit_all(Lane::claims, std::move(claims));

    bool more = false;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto [session, stream] = asked[i];
        if (replies[i].is(Errc::fenced) || replies[i].is(Errc::not_found)) {
            reached<"claim_for_an_older_stream_refused">();
            detach(session, stream);
            continue;
        }
        if (!replies[i]) continue;
        auto& claimed = std::get<Claimed>(*replies[i]);
        more = more || claimed.unfinished || claimed.assignments.size() >= claim_max;
        const auto found = attached_.find(session);
        // The stream may have ended meanwhile: then the next heartbeat's answer carries these.
        if (found == attached_.end() || found->second.stream != stream) continue;
        if (!claimed.assignments.empty() && strikes(Fault::server_stream_lost)) {
            detach(session, stream);
            continue;
        }
        for (auto& assignment : claimed.assignments)
            found->second.outbox->send(std::move(assignment));
    }
    co_return more;
}

void Dispatcher::attach(SessionId session, std::uint64_t stream, std::shared_ptr<Outbox> outbox) {
    auto& attached = attached_[session];
    if (attached.outbox && attached.stream >= stream) {
        outbox->close();
        return;
    }
    if (attached.outbox) attached.outbox->close();
    attached = {stream, std::move(outbox)};
    alarm_->ring();
}

void Dispatcher::detach(SessionId session, std::uint64_t stream) {
    const auto found = attached_.find(session);
    if (found == attached_.end() || found->second.stream != stream) return;
    found->second.outbox->close();
    attached_.erase(found);
}

bool Dispatcher::send(SessionId session, StreamMessage message) {
    const auto found = attached_.find(session);
    if (found == attached_.end()) return false;
    found->second.outbox->send(std::move(message));
    return true;
}

void Dispatcher::close_all() {
    if (!attached_.empty()) reached<"streams_closed_without_a_store">();
    for (auto& [session, attached] : attached_) attached.outbox->close();
    attached_.clear();
}

}  // namespace perdure
