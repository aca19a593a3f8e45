#include "server/group_commit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"

namespace perdure {
namespace {

// All reports of a request are of one session.
void note_end(const CommitRequest& request, CommittedWork& work) {
    for (const auto& change : request.changes) {
        const auto* end = std::get_if<Report>(&change);
        if (!end) continue;
        work.ended.insert(end->session);
        return;
    }
}

CommittedWork work_of(const CommitBatch& batch, bool appeared) {
    CommittedWork work{.appeared = appeared};
    for (const auto& request : batch) {
        if (request->lane == Lane::reports) note_end(*request, work);
        if (request->lane != Lane::claims && request->lane != Lane::heartbeats) continue;
        for (const auto& change : request->changes) {
            if (const auto* claim = std::get_if<Claim>(&change))
                work.claimed_for.insert(claim->session);
            else if (const auto* heartbeat = std::get_if<Heartbeat>(&change))
                work.heard.insert(heartbeat->session);
        }
    }
    return work;
}

// Whether a wait begins that must not end early (T2): everything that puts a job, or an attempt,
// into a place with a deadline.
struct MakesDeadline {
    bool operator()(const Tick&) const { return false; }
    bool operator()(const OpenStream&) const { return false; }
    bool operator()(const EndSession&) const { return false; }
    bool operator()(const Start&) const { return false; }
    bool operator()(const Progress&) const { return false; }
    bool operator()(const TakeKeeper&) const { return false; }
    bool operator()(const ForgetEnded&) const { return false; }
    bool operator()(const DefineLimit&) const { return false; }
    bool operator()(const PauseQueue&) const { return false; }
    template <class Other>
    bool operator()(const Other&) const {
        return !zoo(Bug::waits_count_from_the_last_tick);
    }
};

bool makes_deadline(const std::vector<Change>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const Change& change) { return std::visit(MakesDeadline{}, change); });
}

}  // namespace

GroupCommit::GroupCommit(Store& store, Clock& clock, Options options, Fatal fatal, Log log)
    : store_(store),
      clock_(clock),
      options_(options),
      fatal_(std::move(fatal)),
      alarm_(clock.make_alarm()),
      deadline_alarm_(clock.make_alarm()),
      seen_(options.timing),
      lanes_(options.rows_max, options.lane_max),
      good_at_(clock.boot()),
      sender_(store, clock, *this, std::move(log)) {}

Task<void> GroupCommit::open(ServerId server, Stop& stop) {
    stop.wakes(*alarm_);
    const auto opened = co_await sender_.open(server, stop, *alarm_);
    if (!opened) co_return;
    seen_.open(opened->clock, clock_.boot());
    good_at_ = clock_.boot();
}

Task<void> GroupCommit::run(Stop& stop) {
    while (!stop.requested()) {
        if (is_idle()) good_at_ = clock_.boot();
        send_what_waits();
        co_await alarm_->wait(seconds(60));
    }
    is_stopping_ = true;
    while (!sender_.is_idle()) co_await alarm_->wait(seconds(60));
}

// [P11] Whoever has waited too long is told what is known: that nothing was done, or that it is
// not known. What hangs in the store goes on hanging without them.
Task<void> GroupCommit::watch_deadlines(Stop& stop) {
    stop.wakes(*deadline_alarm_);
    while (!stop.requested()) {
        co_await deadline_alarm_->wait(is_idle() ? options_.timing.idle_tick
                                                 : options_.timing.tick);
        // Who claims must hear of it, to let go of the streams.
        if (!healthy() && work_listener_) work_listener_->wake();
        if (zoo(Bug::waiters_never_refused)) continue;
        const auto now = clock_.boot();
        sender_.refuse_late(now);
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

JobId GroupCommit::next_job_id() { return JobId{sender_.next_id()}; }
SessionId GroupCommit::next_session_id() { return SessionId{sender_.next_id()}; }

void GroupCommit::saw(const ServiceTick& clock, BootTime asked_at) {
    if (!seen_.saw(clock, asked_at, clock_.boot()))
        return fatal_("the store is behind what it has shown before: it has lost commits");
    // A read can show a group of ours before its reply is here.
    for (const auto& tick : sender_.ticks_under_way()) seen_.note_own(tick);
}

Tick GroupCommit::next_tick(BootTime now, const std::optional<SentTick>& ahead) const {
    return seen_.next(now, ahead);
}

bool GroupCommit::healthy() const {
    if (!sender_.is_open()) return false;
    return is_idle() || clock_.boot() - good_at_ < options_.timing.outage;
}

void GroupCommit::send_what_waits() {
    const auto may_send = [this] {
        if (is_stopping_ || !sender_.is_ready()) return false;
        return sender_.is_idle() ? !lanes_.empty() : lanes_.has_jobs(store_.pipeline_min_jobs());
    };
    while (may_send()) {
        auto batch = lanes_.form();
        if (zoo(Bug::ack_before_commit)) acknowledge_too_early(batch);
        sender_.send(led_by_a_tick(std::move(batch)));
    }
}

void GroupCommit::acknowledge_too_early(CommitBatch& batch) {
    for (auto& request : batch) {
        const auto* submit = std::get_if<Submit>(&request->changes.front());
        if (!submit || !request->waiter) continue;
        answer(*request, {ChangeReply(Submitted{submit->id, true, JobState::ready})});
    }
}

// Before everything else (T2).
CommitBatch GroupCommit::led_by_a_tick(CommitBatch batch) const {
    bool has_tick = options_.leading_ticks == LeadingTicks::never || seen_.newest().of_another;
    bool needs_tick = false;
    for (const auto& request : batch) {
        has_tick = has_tick || request->lane == Lane::tick;
        needs_tick = needs_tick || makes_deadline(request->changes);
    }
    if (has_tick || !needs_tick) return batch;
    auto tick = std::make_unique<CommitRequest>();
    tick->lane = Lane::tick;
    tick->changes.push_back(Tick{});
    batch.insert(batch.begin(), std::move(tick));
    return batch;
}

void GroupCommit::committed(SentGroup& group) {
    good_at_ = clock_.boot();
    auto& reply = **group.reply;
    saw(reply.clock, group.sent_at);
    attempts_overdue_ = reply.attempts_overdue;
    store_is_idle_ = reply.idle;
    owes_ = reply.owes;
    keeper_ = reply.keeper;
    seen_.note_written(reply.written_tick, clock_.boot());
    if (group.tick) seen_.note_own({*group.tick, group.sent_at});
    if (meter_) note_recoveries(group.batch, reply);
    if (job_meter_) job_meter_->committed(reply.events);
    auto next = std::make_move_iterator(reply.replies.begin());
    CommitBatch again;
    bool is_led_astray = false;  // another server was first: nothing behind the tick was done
    for (auto& request : group.batch) {
        if (is_led_astray) {
            again.push_back(std::move(request));
            continue;
        }
        const auto rows = static_cast<std::ptrdiff_t>(request->changes.size());
        std::vector<ChangeReply> own(next, next + rows);
        next += rows;
        for (std::size_t i = 0; watcher_ && i < own.size(); ++i)
            watcher_(request->changes[i], own[i]);
        is_led_astray = request->lane == Lane::tick && group.tick && !own.front();
        answer(*request, std::move(own));
    }
    std::erase(group.batch, nullptr);
    note_activity(group.batch, reply.work_appeared);
    if (again.empty()) return;
    reached<"group_sent_again_after_another_servers_tick">();
    send_again(std::move(again));
}

void GroupCommit::committed_unanswered(const SentGroup& group) {
    good_at_ = clock_.boot();
    if (group.tick) seen_.note_own_unanswered({*group.tick, group.sent_at});
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
    for (const auto& entry : reply.recoveries) meter_->recorded(entry, good_at_);
}

void GroupCommit::note_activity(const CommitBatch& batch, bool work_appeared) {
    if (work_listener_) work_listener_->note(work_of(batch, work_appeared));
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

void GroupCommit::send_again(CommitBatch batch) {
    std::erase_if(batch, [](const auto& request) { return !request->waiter; });
    lanes_.put_back(std::move(batch));
    alarm_->ring();
}

void GroupCommit::has_room() {
    send_what_waits();
    alarm_->ring();
}

void GroupCommit::fenced_off(const std::string& why) { fatal_(why); }

}  // namespace perdure
