#include "server/sessions/session_service.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"
#include "core/ownership/reconcile.h"

namespace perdure {
namespace {

bool is_draining(const HeartbeatRequest& request) {
    return request.draining.value_or(request.slots == 0);
}

Heartbeat change_of(const HeartbeatRequest& request) {
    return {.session = request.session,
            .number = request.number,
            .content_hash = content_hash(request),
            .seen = request.seen,
            .slots = request.slots,
            .draining = is_draining(request),
            .offer = request.offer,
            .lease = request.lease,
            .attempts = request.attempts};
}

// Of what the worker lists as running, that which is its own. Only progress asks for it.
std::set<AttemptKey> running_of(const HeartbeatRequest& request, const HeartbeatTaken& taken) {
    std::set<AttemptKey> running;
    if (request.progress.empty()) return running;
    for (const auto& listed : request.attempts)
        if (listed.phase == Listed::Phase::running) running.insert(listed.attempt);
    for (const auto& stopped : taken.stop) running.erase(stopped);
    return running;
}

}  // namespace

std::uint64_t content_hash(const HeartbeatRequest& request) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
    mix(request.seen);
    mix(request.slots);
    mix(is_draining(request) ? 1 : 0);
    for (const auto& listed : request.attempts) {
        mix(listed.attempt.job.value);
        mix(listed.attempt.epoch.value);
        mix(listed.assignment);
        mix(static_cast<std::uint64_t>(listed.phase));
    }
    return hash;
}

SessionService::SessionService(Store& store, GroupCommit& commits, Dispatcher& dispatcher,
                               Timing timing, GroupCommit::Fatal fatal, Log log)
    : store_(store),
      commits_(commits),
      dispatcher_(dispatcher),
      timing_(timing),
      fatal_(std::move(fatal)),
      log_(std::move(log)) {}

Task<Result<std::uint64_t>> SessionService::open_stream(SessionId session,
                                                        std::shared_ptr<Outbox> outbox) {
    const OpenStream change{session};
    auto reply = co_await commits_.commit(Lane::reports, change);
    if (!reply) co_return reply.error();
    const auto stream = std::get<StreamOpened>(*reply).stream;
    dispatcher_.attach(session, stream, std::move(outbox));
    co_return stream;
}

Task<Result<HeartbeatAnswerMessage>> SessionService::heartbeat(HeartbeatRequest request) {
    if (!commits_.healthy()) co_return error(Errc::unavailable, "the store does not answer");
    if (request.tick_seen > commits_.seen().clock.tick) {
        // Another server's tick may be newer than what we have seen: look before we judge.
        auto service = co_await store_.service();
        if (!service) co_return service.error();
        if (request.tick_seen > service->clock.tick) {
            fatal_("a worker has seen a later tick than the store has: it has lost commits");
            co_return error(Errc::unavailable, "the store has lost commits");
        }
    }
    auto reply = co_await commits_.commit(Lane::heartbeats, change_of(request));
    if (reply.is(Errc::not_found))
        co_return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::session_ended};
    if (!reply) co_return reply.error();
    auto& taken = std::get<HeartbeatTaken>(*reply);
    if (taken.store_is_behind) co_return end_life_behind();
    if (taken.answer == HeartbeatAnswer::accept)
        progress_.replace_notes(request.session, running_of(request, taken),
                                std::move(request.progress));
    co_return HeartbeatAnswerMessage{.answer = taken.answer,
                                     .resent = std::move(taken.resent),
                                     .stop = std::move(taken.stop),
                                     .kill = std::move(taken.kill),
                                     .recall = std::move(taken.recall),
                                     .tick = zoo(Bug::unwritten_tick_is_told)
                                                 ? commits_.seen().clock.tick
                                                 : commits_.written_tick()};
}

Error SessionService::end_life_behind() {
    fatal_("a worker has an epoch that the store has never given out");
    return error(Errc::unavailable, "the store has lost commits");
}

Task<Result<ReportResponse>> SessionService::report(ReportRequest request) {
    std::vector<Change> changes;
    changes.reserve(request.items.size());
    bool ended = false;
    for (auto& item : request.items) {
        switch (item.kind) {
            case ReportItem::Kind::ask:
            case ReportItem::Kind::started:
                changes.push_back(Start{request.session, item.attempt});
                break;
            case ReportItem::Kind::ended:
                ended = true;
                item.end.reported = true;
                changes.push_back(
                    Report{request.session, item.attempt, item.end, item.evidence, item.age});
                break;
            case ReportItem::Kind::begin:
            case ReportItem::Kind::checkpoint: {
                const bool begin = item.kind == ReportItem::Kind::begin;
                changes.push_back(
                    Progress{begin ? Progress::Kind::begin : Progress::Kind::checkpoint,
                             request.session, item.attempt, item.checkpoint, item.number});
                break;
            }
        }
    }
    if (ended) dispatcher_.expect_room(request.session);
    auto replies = co_await commits_.commit_report(request.session, std::move(changes));
    ReportResponse response;
    for (std::size_t i = 0; i < request.items.size(); ++i) {
        const auto& reply = replies[i];
        const bool ask = request.items[i].kind == ReportItem::Kind::ask;
        auto answer = ask ? ItemAnswer::go : ItemAnswer::ok;
        if (reply.is(Errc::fenced) || reply.is(Errc::not_found))
            answer = ItemAnswer::fenced;
        else if (reply.is(Errc::corrupt))
            answer = ItemAnswer::damaged;
        else if (!reply)
            answer = ItemAnswer::again;
        else if (const auto* said = std::get_if<Reported>(&*reply)) {
            if (said->answer == ReportAnswer::file_late) {
                reached<"late_result_filed">();
                answer = ItemAnswer::fenced;
            }
            if (said->answer == ReportAnswer::correct) reached<"presumed_lost_reported">();
        }
        response.answers.push_back(answer);
    }
    co_return response;
}

}  // namespace perdure
