#include "server/dispatcher.h"

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "base/probe.h"

namespace perdure {

namespace {

// Sessions that were full are claimed for again after this, whatever was heard of them.
constexpr auto full_for = milliseconds(250);

}  // namespace

Dispatcher::Dispatcher(Clock& clock, GroupCommit& commits, Log log)
    : clock_(clock), commits_(commits), log_(std::move(log)), for_all_(clock.make_alarm()) {}

Task<void> Dispatcher::run(Stop& stop) {
    stop.wakes(for_all_);
    bool more = false;
    while (!stop.requested()) {
        if (!more) co_await for_all_.wait(hours(1));
        if (!commits_.healthy()) {
            close_all();
            more = false;
            continue;
        }
        if (for_all_.take()) ask_for_all();
        more = co_await claim();
    }
}

void Dispatcher::ask_for_all() {
    const auto now = clock_.boot();
    const bool are_full_asked_for = now - asked_for_full_at_ >= full_for;
    if (are_full_asked_for) asked_for_full_at_ = now;
    for (auto& [session, attached] : attached_) {
        if (are_full_asked_for) attached.is_full = false;
        if (!attached.is_full) attached.is_asked_for = true;
    }
}

// Each time beginning with another one, so that the first in the map does not always eat first.
Dispatcher::Asked Dispatcher::take_asked() {
    Asked asked;
    for (auto& [session, attached] : attached_)
        if (std::exchange(attached.is_asked_for, false))
            asked.emplace_back(session, attached.stream);
    if (asked.empty()) return asked;
    std::rotate(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(turn_++ % asked.size()),
                asked.end());
    return asked;
}

// One group for all sessions that are asked for. True if somebody is to be asked for again.
Task<bool> Dispatcher::claim() {
    const auto asked = take_asked();
    if (asked.empty()) co_return false;
    std::vector<Change> claims;
    for (const auto& [session, stream] : asked)
        claims.push_back(Claim{.session = session, .stream = stream, .max = claim_max});
    auto replies = co_await commits_.commit_all(Lane::claims, std::move(claims));

    bool more = false;
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (take_reply(asked[i].first, asked[i].second, replies[i])) more = true;
    co_return more;
}

// True if it got as much as one claim may give, or could only block what it looked at: a million
// jobs behind one key do not hold up what stands behind them.
bool Dispatcher::take_reply(SessionId session, std::uint64_t stream, ChangeReply& reply) {
    if (reply.is(Errc::fenced) || reply.is(Errc::not_found)) {
        reached<"claim_for_an_older_stream_refused">();
        detach(session, stream);
        return false;
    }
    if (!reply) return false;
    auto& claimed = std::get<Claimed>(*reply);
    const auto found = attached_.find(session);
    // The stream may have ended meanwhile: then the next heartbeat's answer carries these.
    if (found == attached_.end() || found->second.stream != stream) return false;
    auto& attached = found->second;
    if (!claimed.assignments.empty() && strikes(Fault::server_stream_lost)) {
        detach(session, stream);
        return false;
    }
    for (auto& assignment : claimed.assignments) attached.outbox->send(std::move(assignment));
    const bool goes_on = claimed.unfinished || claimed.assignments.size() >= claim_max;
    if (goes_on) attached.is_asked_for = true;
    // There is more that it could take, and it does not.
    attached.is_full = claimed.left > 0 && !goes_on;
    return goes_on;
}

void Dispatcher::expect_room(SessionId session) {
    const auto found = attached_.find(session);
    if (found == attached_.end()) return;
    found->second.is_full = false;
    found->second.is_asked_for = true;
    for_all_.ring_for_some();
}

void Dispatcher::note(const CommittedWork& work) {
    for (const auto session : work.heard) {
        const auto found = attached_.find(session);
        if (found != attached_.end()) found->second.is_full = false;
    }
    for (const auto session : work.ended)
        if (!work.claimed_for.contains(session)) expect_room(session);
    if (!work.appeared) return;
    bool is_any = false;
    for (auto& [session, attached] : attached_) {
        if (attached.is_full || work.claimed_for.contains(session)) continue;
        attached.is_asked_for = true;
        is_any = true;
    }
    if (is_any) for_all_.ring_for_some();
}

void Dispatcher::attach(SessionId session, std::uint64_t stream, std::shared_ptr<Outbox> outbox) {
    auto& attached = attached_[session];
    if (attached.outbox && attached.stream >= stream) {
        outbox->close();
        return;
    }
    if (attached.outbox) attached.outbox->close();
    attached = {.stream = stream, .outbox = std::move(outbox), .is_asked_for = true};
    for_all_.ring_for_some();
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
