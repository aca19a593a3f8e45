#include "server/ticker.h"

#include "base/probe.h"
#include "base/zoo.h"
#include "core/keeper.h"
#include "core/service_time.h"

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
    while (!stop.requested()) {
        const auto& seen = commits_.seen();
        const auto decision = decide_tick({.seen = seen.clock,
                                           .since_seen = clock_.boot() - seen.at,
                                           .since_start = clock_.boot() - started_at_,
                                           .idle = idle_},
                                          timing_);
        if (!decision.send) {
            co_await alarm_->wait(decision.wait);
            // Whatever rang may have ended the idleness; the next look tells.
            idle_ = false;
            continue;
        }
        if (decision.rule == "T2/after_outage") reached<"grace_after_outage">();
        const Tick change{.seen_tick = commits_.seen().clock.tick, .next = decision.next};
        auto reply = co_await commits_.commit(Lane::tick, change);
        if (reply) {
            co_await sweeper_.sweep();
        } else if (reply.is(Errc::conflict)) {
            reached<"another_server_ticked_first">();
        } else {
            co_await alarm_->wait(timing_.tick);
        }
        co_await look_around();
    }
}

// Reads what a group's reply does not show: whether anything runs, and who is keeper.
Task<void> Ticker::look_around() {
    const auto asked_at = clock_.boot();
    auto view = co_await store_.service();
    if (!view) co_return;
    commits_.saw(view->clock, asked_at);
    idle_ = view->idle;
    const auto decision =
        decide_keeper({.role = view->keeper, .me = me_, .clock = view->clock}, timing_);
    is_keeper_ = view->keeper.holder == me_;
    if (decision.kind == KeeperDecision::Kind::wait) co_return;
    const TakeKeeper change{view->keeper, decision.next};
    auto reply = co_await commits_.commit(Lane::reports, change);
    is_keeper_ = reply.has_value();
    if (reply && decision.kind == KeeperDecision::Kind::take) reached<"keeper_changed">();
}

}  // namespace perdure
