// Recovery: what becomes of an attempt whose owner is silent, and of a job whose attempt ended.
// Two pure functions. The first says how an attempt ended that nobody reported (or that it is too
// early to say); the second says what its job does next. Every automatic repair goes through both.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/explain/detector.h"
#include "core/job/job.h"
#include "core/ownership/isolation.h"
#include "core/ownership/service_time.h"
#include "core/policy/cause.h"
#include "core/policy/policy.h"

namespace perdure {

// Facts about an attempt in `run`, all read in one transaction.
struct RunFacts {
    JobState state = JobState::running;  // starting or running
    Terms terms;
    bool clean = false;               // its last checkpoint is newer than its last `begin`
    std::optional<Cause> kill_cause;  // a kill that was ordered: cancelled or timeout(total)
    bool recalled = false;            // it was ordered back: it must not start any more (O3)
    bool heard = false;               // its session is: no heartbeat is overdue
    bool saw_assignment = true;       // the session's heartbeats have named it or a later one
    bool alone = false;               // the only attempt of its session
    ServiceTime lease_deadline;       // of its session
    ServiceTime confirm_deadline;     // of its start
    ServiceTick clock;
};

struct RecoveryDecision {
    std::optional<AttemptEnd> end;  // empty: it is still owned
    std::string_view rule;
    Detector detector = Detector::lease;
    bool order_back = false;  // still owned, and not to be started any more
};

RecoveryDecision decide_recovery(const RunFacts& facts);

// Facts about a job whose attempt has just ended.
struct EndFacts {
    AttemptEnd end;  // judged(): it says which of the author's rules it fits
    PolicyChoice policy;
    Effects effects = Effects::repeatable;
    CauseCounts counts;  // this end included
    bool cancel_requested = false;
    AttemptKey attempt;  // only its jitter is drawn from it
};

// What the job does next.
struct Next {
    enum class Kind { again_now, again_after, again_on, ended };
    Kind kind = Kind::ended;
    JobState state = JobState::failed;  // if it ended
    Duration wait;                      // again_after: in service time
    WallTime date;                      // again_on
    bool another_worker = false;
    bool alarming = false;
    bool may_have_run = false;
    std::string_view rule;

    friend bool operator==(const Next&, const Next&) = default;
};

Next decide_next(const EndFacts& facts);

}  // namespace perdure
