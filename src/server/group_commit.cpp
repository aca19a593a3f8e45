#include "server/group_commit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"

namespace perdure {
namespace {

bool reports_an_end(const std::vector<Change>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const Change& change) { return std::holds_alternative<Report>(change); });
}

}  // namespace

GroupCommit::GroupCommit(Store& store, Clock& clock, Options options, Fatal fatal, Log log)
    : store_(store),
      clock_(clock),
      options_(options),
      fatal_(std::move(fatal)),
      log_(std::move(log)),
      alarm_(clock.make_alarm()),
      deadline_alarm_(clock.make_alarm()),
      settle_alarm_(clock.make_alarm()),
      lanes_(options.rows_max, options.lane_max),
      good_at_(clock.boot()),
      carriers_(clock.executor()) {}

Task<void> GroupCommit::open(ServerId server, Stop& stop) {
    stop.wakes(*alarm_);
    server_ = server;
    while (!stop.requested()) {
        auto opened = co_await store_.open_server(server, clock_.wall());
        if (opened) {
            ids_.emplace(opened->number, opened->id_high_water);
            number_ = opened->last_group;
            fence_ = opened->fence;
            saw(opened->clock, clock_.boot());
            note_written(opened->clock.tick);
            opened_at_ = clock_.boot();
            good_at_ = clock_.boot();
            co_return;
        }
        log_.write(Level::warn, "store does not open", "why", opened.error().what);
        co_await alarm_->wait(store_retry);
    }
}

Task<void> GroupCommit::run(Stop& stop) {
    while (!stop.requested()) {
        if (is_idle()) good_at_ = clock_.boot();
        send_what_waits();
        co_await alarm_->wait(seconds(60));
    }
    is_stopping_ = true;
    while (!flights_.empty() || is_sorting_out_) co_await alarm_->wait(seconds(60));
}

// What is known of a group that whoever asked no longer waits for.
Error GroupCommit::why_late(const Flight& flight) {
    const bool may_be_done =
        !flight.reply || *flight.reply || flight.reply->is(Errc::outcome_unknown);
    if (!may_be_done) return error(Errc::unavailable, "the store does not answer");
    reached<"answered_outcome_unknown">();
    return error(Errc::outcome_unknown, "the store does not answer");
}

// [P11] Whoever has waited too long is told what is known: that nothing was done, or that it is
// not known. What hangs in the store goes on hanging without them.
Task<void> GroupCommit::watch_deadlines(Stop& stop) {
    stop.wakes(*deadline_alarm_);
    while (!stop.requested()) {
        co_await deadline_alarm_->wait(is_idle() ? options_.timing.idle_tick
                                                 : options_.timing.tick);
        // Who claims must hear of it, to let go of the streams.
        if (!healthy() && work_alarm_) work_alarm_->ring();
        if (zoo(Bug::waiters_never_refused)) continue;
        const auto now = clock_.boot();
        for (auto& flight : flights_) {
            for (auto& request : flight->batch) {
                if (!request->waiter || now < request->deadline) continue;
                refuse(*request, why_late(*flight));
            }
        }
        for (auto& request : lanes_.take_expired(now)) {
            reached<"refused_after_waiting">();
            refuse(*request, error(Errc::unavailable, "the store does not answer"));
        }
    }
}

Task<ChangeReply> GroupCommit::commit(Lane lane, Change change) {
    std::vector<Change> one;
    one.push_back(std::move(change));
    auto replies = co_await commit_all(lane, std::move(one));
    co_return std::move(replies.front());
}

Task<std::vector<ChangeReply>> GroupCommit::commit_all(Lane lane, std::vector<Change> changes) {
    auto request = std::make_unique<CommitRequest>();
    request->lane = lane;
    request->changes = std::move(changes);
    return commit(std::move(request));
}

Task<std::vector<ChangeReply>> GroupCommit::commit_report(SessionId worker,
                                                          std::vector<Change> changes) {
    auto request = std::make_unique<CommitRequest>();
    request->lane = Lane::reports;
    request->changes = std::move(changes);
    request->worker = worker;
    if (const auto repeated = lanes_.take_repeated(*request))
        refuse(*repeated, error(Errc::unavailable, "asked again meanwhile"));
    return commit(std::move(request));
}

Task<std::vector<ChangeReply>> GroupCommit::commit(std::unique_ptr<CommitRequest> request) {
    std::vector<ChangeReply> replies;
    if (request->changes.empty()) co_return replies;
    if (lanes_.is_full(request->lane)) {
        reached<"lane_was_full">();
        replies.assign(request->changes.size(),
                       error(Errc::overloaded, "too much waits to be committed"));
        co_return replies;
    }
    if (is_idle()) good_at_ = clock_.boot();
    request->into = &replies;
    request->deadline = clock_.boot() + options_.timing.submit_deadline;
    CommitRequest* mine = request.get();
    lanes_.push(std::move(request));
    alarm_->ring();
    // The request owns this coroutine until it is answered: a crash destroys both.
    co_await suspend([mine](Suspended waiter) { mine->waiter.emplace(std::move(waiter)); });
    co_return replies;
}

JobId GroupCommit::next_job_id() { return JobId{ids_->next(clock_.wall())}; }
SessionId GroupCommit::next_session_id() { return SessionId{ids_->next(clock_.wall())}; }

void GroupCommit::saw(const ServiceTick& clock, BootTime asked_at) {
    if (clock.tick < seen_.clock.tick) {
        // What it is behind by may have stayed in memory.
        if (asked_at <= seen_.at || asked_at <= written_at_ || clock.tick >= written_tick_) return;
        reached<"store_lost_commits">();
        fatal_("the store is behind what it has shown before: it has lost commits");
        return;
    }
    const bool is_first = seen_.at == BootTime{};
    if (clock.tick > seen_.clock.tick || is_first)
        seen_ = {.clock = clock, .at = clock_.boot(), .of_another = !is_first};
    // Else no deadline would be led by a tick: nobody leaves that to a server that is not there.
    if (lost_tick_) saw_own_tick(*lost_tick_);
    // A read can show a group of ours before its reply is here.
    for (const auto& flight : flights_)
        if (flight->tick) saw_own_tick({*flight->tick, flight->asked_at});
}

void GroupCommit::note_written(std::uint64_t tick) {
    if (tick <= written_tick_) return;
    written_tick_ = tick;
    written_at_ = clock_.boot();
}

void GroupCommit::saw_own_tick(const SentTick& sent) {
    if (seen_.clock != sent.clock) return;
    seen_.sent_at = sent.at;
    seen_.of_another = false;
}

// A group behind another one of ours, which is not answered yet, builds on that one's tick.
Tick GroupCommit::next_tick(const Flight& flight) const {
    const auto now = flight.asked_at;
    TickFacts facts{.seen = seen_.clock,
                    .since_seen = now - seen_.at,
                    .since_start = now - opened_at_,
                    .makes_deadline = true};
    if (seen_.sent_at) facts.since_sent = now - *seen_.sent_at;
    for (const auto& ahead : flights_) {
        if (ahead.get() == &flight) break;
        if (!ahead->tick) continue;
        facts.seen = *ahead->tick;
        facts.since_seen = now - ahead->asked_at;
        facts.since_sent = facts.since_seen;
    }
    const auto decision = decide_tick(facts, options_.timing);
    if (decision.rule == "T2/after_outage") reached<"grace_after_outage">();
    return {.seen_tick = facts.seen.tick, .next = decision.next, .leads_from = facts.seen.now};
}

bool GroupCommit::healthy() const {
    if (!ids_) return false;  // not open yet
    return is_idle() || clock_.boot() - good_at_ < options_.timing.outage;
}

bool GroupCommit::is_idle() const { return lanes_.empty() && flights_.empty() && !is_sorting_out_; }

Group GroupCommit::group_of(Flight& flight) {
    Group group{.server = server_,
                .number = flight.number,
                .fence = fence_,
                .id_high_water = ids_->high_water(),
                .wall = clock_.wall(),
                .changes = {}};
    std::size_t count = 0;
    for (const auto& request : flight.batch) count += request->changes.size();
    group.changes.reserve(count);
    for (const auto& request : flight.batch)
        group.changes.insert(group.changes.end(), request->changes.begin(), request->changes.end());
    for (auto& change : group.changes) {
        auto* tick = std::get_if<Tick>(&change);
        if (!tick || tick->next.tick != 0) continue;
        *tick = next_tick(flight);
        flight.tick = tick->next;
    }
    return group;
}

void GroupCommit::take_committed(Flight& flight) {
    number_ = std::max(number_, flight.number);
    good_at_ = clock_.boot();
    auto& reply = **flight.reply;
    saw(reply.clock, flight.asked_at);
    attempts_overdue_ = reply.attempts_overdue;
    owes_ = reply.owes;
    keeper_ = reply.keeper;
    note_written(reply.written_tick);
    if (flight.tick) saw_own_tick({*flight.tick, flight.asked_at});
    if (meter_) note_recoveries(flight.batch, reply);
    auto next = std::make_move_iterator(reply.replies.begin());
    CommitBatch again;
    bool is_led_astray = false;  // another server was first: nothing behind the tick was done
    for (auto& request : flight.batch) {
        if (is_led_astray) {
            again.push_back(std::move(request));
            continue;
        }
        const auto rows = static_cast<std::ptrdiff_t>(request->changes.size());
        std::vector<ChangeReply> own(next, next + rows);
        next += rows;
        for (std::size_t i = 0; watcher_ && i < own.size(); ++i)
            watcher_(request->changes[i], own[i]);
        is_led_astray = request->lane == Lane::tick && flight.tick && !own.front();
        answer(*request, std::move(own));
    }
    std::erase(flight.batch, nullptr);
    note_activity(flight.batch, reply.work_appeared);
    if (again.empty()) return;
    reached<"group_sent_again_after_another_servers_tick">();
    put_back(std::move(again));
}

// Starts come before entries: what is entered now is started by a later group.
void GroupCommit::note_recoveries(const CommitBatch& batch, const GroupReply& reply) {
    auto next = reply.replies.begin();
    for (const auto& request : batch) {
        if (!meter_->is_waiting()) break;
        for (const auto& change : request->changes) {
            const auto& answer = *next++;
            if (!answer) continue;
            if (const auto* start = std::get_if<Start>(&change))
                meter_->started(start->attempt.job, good_at_);
            // A short job may say that it has started and ended in one.
            if (const auto* end = std::get_if<Report>(&change); end && end->end.ran != Ran::no)
                meter_->started(end->attempt.job, good_at_);
        }
    }
    for (const auto& entry : reply.recoveries) meter_->entered(entry, good_at_);
}

void GroupCommit::note_activity(const CommitBatch& batch, bool work_appeared) {
    const bool slots_may_be_free = std::any_of(batch.begin(), batch.end(), [](const auto& request) {
        return reports_an_end(request->changes);
    });
    const bool seen_by_claims = std::any_of(batch.begin(), batch.end(), [](const auto& request) {
        return request->lane == Lane::claims;
    });
    const bool can_claim = work_appeared || slots_may_be_free;
    if (can_claim && !seen_by_claims && work_alarm_) work_alarm_->ring();
    const bool active = std::any_of(batch.begin(), batch.end(), [](const auto& request) {
        // A claim only follows what was activity; by itself it says nothing.
        return request->lane == Lane::reports || request->lane == Lane::submits;
    });
    if (active && activity_alarm_) activity_alarm_->ring();
}

void GroupCommit::answer(CommitRequest& request, std::vector<ChangeReply> replies) {
    if (!request.waiter) return;
    *request.into = std::move(replies);
    std::exchange(request.waiter, std::nullopt)->resume_later(clock_.executor());
}

void GroupCommit::refuse(CommitRequest& request, const Error& why) {
    // "Nothing was done" would be a lie about what is committed and only asked for its answer.
    if (request.committed && why.code == Errc::unavailable) {
        reached<"committed_request_not_called_refused">();
        return refuse(request, error(Errc::outcome_unknown, "committed, but the reply was lost"));
    }
    answer(request, std::vector<ChangeReply>(request.changes.size(), ChangeReply(why)));
}

void GroupCommit::refuse(CommitBatch& batch, const Error& why) {
    for (auto& request : batch) refuse(*request, why);
}

void GroupCommit::put_back(CommitBatch batch) {
    std::erase_if(batch, [](const auto& request) { return !request->waiter; });
    lanes_.put_back(std::move(batch));
    alarm_->ring();
}

}  // namespace perdure
