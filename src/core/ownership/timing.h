// Every duration of the protocols, with its default, in one place. Production takes the defaults;
// the simulator draws some of them short so that rare paths are reached.
#pragma once

#include "base/time.h"

namespace perdure {

struct Timing {
    // Rows that a group may touch besides those that its changes name; the rest is owed (C8).
    std::uint32_t group_room = 10'000;
    Duration heartbeat = seconds(2);
    Duration lease = seconds(10);
    Duration tick = milliseconds(500);       // T2: the least time between two ticks
    Duration idle_tick = seconds(1);         // T2: while nothing runs; the pace stays
    Duration first_tick = seconds(2);        // T2: after a server's own start
    Duration tick_advance_max = seconds(1);  // T2
    // T4: how long ticks and renewals may stay in memory while nothing is to be done; zero: not at
    // all. And how far ahead no deadline may be then.
    Duration unwritten = seconds(15);
    Duration unwritten_before_due = seconds(60);
    Duration outage = seconds(2);              // T2, T3: nobody committed for this long
    Duration grace = seconds(5);               // T2: after an outage nothing ends before it
    Duration confirm = seconds(4);             // O4: a start must be confirmed
    Duration go = seconds(3);                  // O4: how long a go is good
    Duration recall = milliseconds(500);       // O3: an attempt ordered back is given up after it
    Duration suspect = seconds(4);             // O3, O5: a session without heartbeat
    Duration deaf_wait = seconds(5);           // O3: before a deaf session's first claim
    Duration deaf_wait_max = minutes(5);       // O3: it doubles up to this
    Duration kill_margin = seconds(2);         // O7: the shim kills this long before the end
    Duration worker_kill = milliseconds(500);  // O7: the worker does if the shim has not
    Duration worker_silence = seconds(5);      // O7, L1: a worker silent towards its shims is gone
    Duration hold = minutes(5);                // O7: `fenced` and `once` go on for this long
    Duration kill_grace = seconds(5);          // SIGTERM, then SIGKILL
    Duration drain = seconds(30);
    Duration kept_holders = seconds(10);   // C4: "retry now" keeps key and limit this long
    Duration prefer_another = seconds(2);  // a lost job waits this long for another worker
    Duration keeper = seconds(2);
    Duration held_by_person = days(30);
    Duration call_timeout = seconds(2);     // T3: a worker unanswered goes to the next server
    Duration reconnect_max = seconds(1);    // T3
    Duration submit_deadline = seconds(5);  // P11
    Duration retention = days(14);          // of what has ended
    Duration unresolved = days(365);        // what nobody has dealt with is kept this long
    Duration keep_key = days(30);           // C5: of the idempotency key of what has ended
    Duration probation_step = seconds(20);  // O9: without a crash, doubles; zero: no probation
    Duration suspect_alone = minutes(5);    // O9: a suspect waits this long for an empty session
    Duration detach_lease = seconds(60);    // L2
    // O10: a begin or a checkpoint that is not committed by then has failed.
    Duration progress_patience = seconds(30);
};

}  // namespace perdure
