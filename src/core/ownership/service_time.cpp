#include "core/ownership/service_time.h"

#include <algorithm>

#include "base/zoo.h"

namespace perdure {

TickDecision decide_tick(const TickFacts& f, const Timing& timing) {
    // A server that has just started cannot know how long nobody ticked. It watches the row it
    // found for a while; if nobody else moves it, this counts as an outage.
    const bool found_at_start = !f.since_sent && f.since_start - f.since_seen < timing.first_tick;
    auto due = f.idle ? timing.idle_tick : timing.tick;
    if (found_at_start) due = std::max(due, timing.first_tick);
    if (f.since_seen < due && !f.makes_deadline && !f.wait_ended)
        return {.wait = due - f.since_seen, .rule = "T2/too_early"};

    auto advance = std::min(f.since_sent.value_or(f.since_seen), timing.tick_advance_max);
    if (zoo(Bug::leases_expire_during_an_outage)) advance = f.since_seen;
    ServiceTick next{
        .tick = f.seen.tick + 1, .now = f.seen.now + advance, .grace_until = f.seen.grace_until};
    const bool nobody_ticked = found_at_start || f.since_seen >= timing.outage;
    if (nobody_ticked && !zoo(Bug::leases_expire_during_an_outage)) {
        next.grace_until = next.now + timing.grace;
        return {.send = true, .wait = {}, .next = next, .rule = "T2/after_outage"};
    }
    return {.send = true, .wait = {}, .next = next, .rule = "T2/tick"};
}

bool is_over(ServiceTime deadline, const ServiceTick& clock) {
    return clock.now >= deadline && clock.now >= clock.grace_until;
}

}  // namespace perdure
