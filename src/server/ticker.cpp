#include "server/ticker.h"

#include <algorithm>
#include <iterator>

#include "base/probe.h"
#include "base/zoo.h"
#include "core/ownership/keeper.h"
#include "core/ownership/service_time.h"

namespace perdure {

Ticker::Ticker(Store& store, Clock& clock, GroupCommit& commits, Sweeper& sweeper, ServerId me,
               Timing timing, Log log)
    : store_(store),
      clock_(clock),
      commits_(commits),
      sweeper_(sweeper),
      me_(me),
      timing_(timing),
      log_(std::move(log)),
      alarm_(clock.make_alarm()),
      started_at_(clock.boot()) {}

Task<void> Ticker::run(Stop& stop) {
    stop.wakes(*alarm_);
    started_at_ = clock_.boot();
    ticked_at_ = started_at_;
    swept_at_ = started_at_;
    while (!stop.requested()) {
        const auto decision = decide();
        if (!decision.send && clock_.boot() - swept_at_ >= timing_.outage) {
            co_await sweep();
            co_await refresh_role();
            ring_if_busy();
            continue;
        }
        if (!decision.send) {
            const auto since = clock_.boot();
            const auto wait = until_next(decision.wait);
            co_await alarm_->wait(wait);
            // Whatever rang may have ended the idleness; the next look tells.
            if (clock_.boot() - since < wait) idle_ = false;
            ring_if_busy();
            continue;
        }
        const bool ticked = co_await tick();
        // While all is idle nothing is due before the next look, and no attempt runs.
        if (ticked && !idle_) co_await sweep();
        if (!ticked) co_await alarm_->wait(timing_.tick);
        co_await refresh_role();
        ring_if_busy();
    }
}

// True if somebody has ticked: this server, or another one.
Task<bool> Ticker::tick() {
    std::vector<Change> changes;
    changes.push_back(Tick{});
    if (renewal_) changes.push_back(*renewal_);
    renewal_.reset();
    ticked_at_ = clock_.boot();
    forget_ended_waits();
    const auto replies = co_await commits_.commit_all(Lane::tick, std::move(changes));
    const auto& ticked = replies.front();
    const bool was_overtaken = ticked.is(Errc::conflict);
    if (ticked) ticked_at_ = commits_.seen().sent_at.value_or(ticked_at_);
    if (was_overtaken) reached<"another_server_ticked_first">();
    // The other tick may have led a group, and nobody sweeps after those.
    co_return ticked || was_overtaken;
}

void Ticker::ring_if_busy() {
    const bool is_time = clock_.boot() - rung_at_ >= timing_.tick;
    if (idle_ || !is_time || !when_busy_ || zoo(Bug::needed_wake_up)) return;
    rung_at_ = clock_.boot();
    when_busy_->ring();
}

// Under load every group ticks; nobody but this loop sweeps. It leaves the tick to another server
// that makes it, and then sweeps now and then all the same.
TickDecision Ticker::decide() const {
    const auto now = clock_.boot();
    const auto& seen = commits_.seen();
    const bool is_ours = seen.sent_at.has_value();
    TickFacts facts{.seen = seen.clock,
                    .since_seen = now - (is_ours ? ticked_at_ : seen.at),
                    .since_start = now - started_at_,
                    .idle = idle_};
    if (is_ours) facts.since_sent = facts.since_seen;
    // A row that another server has moved meanwhile is not the one that was found at the start.
    if (seen.of_another) facts.since_start = facts.since_seen + timing_.first_tick;
    facts.wait_ended = has_wait_ended();
    return decide_tick(facts, timing_);
}

Task<void> Ticker::sweep() {
    swept_at_ = clock_.boot();
    co_await sweeper_.sweep();
}

void Ticker::expect_end_of(Duration wait) {
    // Service time counts from the sending of the group that began it: then it has ended for sure.
    waits_.insert(clock_.boot() + wait + milliseconds(1));
    if (waits_.size() > waits_max) waits_.erase(std::prev(waits_.end()));
}

bool Ticker::has_wait_ended() const {
    const auto now = clock_.boot();
    return !waits_.empty() && *waits_.begin() <= now && now - ticked_at_ >= sweep_apart;
}

void Ticker::forget_ended_waits() {
    waits_.erase(waits_.begin(), waits_.upper_bound(clock_.boot()));
}

Duration Ticker::until_next(Duration tick) const {
    if (waits_.empty()) return tick;
    const auto first = std::max(*waits_.begin(), ticked_at_ + sweep_apart);
    return std::min(tick, std::max(first - clock_.boot(), Duration{}));
}

// Reads what a group's reply does not show: whether anything runs, and who is keeper. While groups
// are not even written there is nothing to read, and nothing to sweep.
Task<void> Ticker::refresh_role() {
    const auto asked_at = clock_.boot();
    const bool is_written = commits_.written_tick() == commits_.seen().clock.tick;
    if (commits_.store_is_idle() && !is_written) {
        idle_ = true;
        swept_at_ = asked_at;
        co_return co_await follow_role(commits_.keeper(), commits_.seen().clock);
    }
    auto view = co_await store_.service();
    if (!view) co_return;
    commits_.saw(view->clock, asked_at);
    idle_ = view->idle;
    // What has stayed in memory is newer than what a read shows (T4).
    const auto& seen = commits_.seen().clock;
    const bool is_older = view->clock.tick < seen.tick;
    co_await follow_role(is_older ? commits_.keeper() : view->keeper,
                         is_older ? seen : view->clock);
}

Task<void> Ticker::follow_role(KeeperRole role, ServiceTick clock) {
    const auto decision = decide_keeper({.role = role, .me = me_, .clock = clock}, timing_);
    is_keeper_ = role.holder == me_;
    if (decision.kind == KeeperDecision::Kind::wait) co_return;
    const TakeKeeper change{role, decision.next};
    if (decision.kind == KeeperDecision::Kind::renew) {
        renewal_ = change;
        co_return;
    }
    auto reply = co_await commits_.commit(Lane::reports, change);
    is_keeper_ = reply.has_value();
    if (reply) reached<"keeper_changed">();
}

}  // namespace perdure
