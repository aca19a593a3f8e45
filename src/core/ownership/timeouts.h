// Timeouts (rule E5) of jobs that wait, and of the whole job. Run and idle belong to the shim.
#pragma once

#include <optional>
#include <string_view>

#include "core/job/job.h"
#include "core/ownership/service_time.h"
#include "core/ownership/timing.h"
#include "core/policy/cause.h"

namespace perdure {

// A job outside `run`, or its total timeout inside it. All instants from one transaction.
struct WaitFacts {
    JobState state = JobState::ready;
    std::optional<ServiceTime> queue_deadline;  // ready, blocked and waiting
    std::optional<ServiceTime> total_deadline;
    std::optional<ServiceTime> due;         // scheduled or waiting, by a duration
    std::optional<WallTime> date;           // scheduled or waiting, by a date
    std::optional<ServiceTime> kept_until;  // ready and still holding key and limit
    bool kill_ordered = false;
    ServiceTime now;
    WallTime wall;
};
struct WaitDecision {
    enum class Kind { wait, make_ready, free_holders, expire, fail, order_kill } kind = Kind::wait;
    Cause cause = Cause::timeout_queue;
    std::string_view rule;
};
WaitDecision decide_wait(const WaitFacts& facts);

// How long a job is kept after its end. What is in quarantine waits for a person, not for a clock.
Duration decide_retention(JobState ended_as, bool discarded, const Timing& timing);

}  // namespace perdure
