// Service time (rules T1, T2): one row in the store, advanced by whichever server commits, by at
// most the real time passed; it stands still while nobody commits.
//   T2a  Two servers never both add the same real time: a tick counts only if the tick it rests on
//        is still the newest.
//        So between two ticks no more service time passes than real time between their sendings.
//   T2b  After an outage nothing ends before `grace_until`: everybody had time to come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/ownership/timing.h"

namespace perdure {

// The row.
struct ServiceTick {
    std::uint64_t tick = 0;
    ServiceTime now;
    ServiceTime grace_until;

    friend bool operator==(const ServiceTick&, const ServiceTick&) = default;
};

struct TickFacts {
    ServiceTick seen;      // the newest row this server has read
    Duration since_seen;   // on its own boot clock, from the first reply that showed it
    Duration since_start;  // on its own boot clock, from the first reply of the store in its life
    bool idle = false;     // nothing runs and nothing is due
    // If the row is this server's own tick: from when that was sent. What it took to commit it is
    // real time, too; of another's tick only the reply is known.
    std::optional<Duration> since_sent = {};
    bool makes_deadline = false;  // the tick leads a group that does: it does not wait
    bool wait_ended = false;      // one that this server knows of: a sweep after this tick sees it
};

struct TickDecision {
    bool send = false;
    Duration wait;     // if not sent: ask again after this
    ServiceTick next;  // if sent: the row to write, WHERE tick = seen.tick
    std::string_view rule;
};

TickDecision decide_tick(const TickFacts& facts, const Timing& timing);

// Whether a lease, confirmation or hold that ends at `deadline` may end now (T2b).
bool is_over(ServiceTime deadline, const ServiceTick& clock);

}  // namespace perdure
