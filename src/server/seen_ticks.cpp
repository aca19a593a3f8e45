#include "server/seen_ticks.h"

#include "base/probe.h"

namespace perdure {

void SeenTicks::open(const ServiceTick& clock, BootTime now) {
    if (!saw(clock, now, now)) return;
    note_written(clock.tick, now);
    opened_at_ = now;
}

bool SeenTicks::saw(const ServiceTick& clock, BootTime asked_at, BootTime now) {
    if (clock.tick < newest_.clock.tick) {
        // What it is behind by may have stayed in memory.
        if (asked_at <= newest_.at || asked_at <= written_at_ || clock.tick >= written_)
            return true;
        reached<"store_lost_commits">();
        return false;
    }
    const bool is_first = newest_.at == BootTime{};
    if (clock.tick > newest_.clock.tick || is_first)
        newest_ = {.clock = clock, .at = now, .of_another = !is_first};
    // Else no deadline would be led by a tick: nobody leaves that to a server that is not there.
    if (unanswered_) note_own(*unanswered_);
    return true;
}

void SeenTicks::note_own(const SentTick& sent) {
    if (newest_.clock != sent.clock) return;
    newest_.sent_at = sent.at;
    newest_.of_another = false;
}

void SeenTicks::note_own_unanswered(const SentTick& sent) {
    // Of several that rest on one tick, only the first can have counted.
    if (!unanswered_ || unanswered_->clock.tick < sent.clock.tick) unanswered_ = sent;
}

void SeenTicks::note_written(std::uint64_t tick, BootTime now) {
    if (tick <= written_) return;
    written_ = tick;
    written_at_ = now;
}

Tick SeenTicks::next(BootTime now, const std::optional<SentTick>& ahead) const {
    TickFacts facts{.seen = newest_.clock,
                    .since_seen = now - newest_.at,
                    .since_start = now - opened_at_,
                    .makes_deadline = true};
    if (newest_.sent_at) facts.since_sent = now - *newest_.sent_at;
    if (ahead) {
        facts.seen = ahead->clock;
        facts.since_seen = now - ahead->at;
        facts.since_sent = facts.since_seen;
    }
    const auto decision = decide_tick(facts, timing_);
    if (decision.rule == "T2/after_outage") reached<"grace_after_outage">();
    return {.seen_tick = facts.seen.tick, .next = decision.next, .leads_from = facts.seen.now};
}

}  // namespace perdure
