// Isolation (rule O7): how an attempt starts, and what happens to it when its lease ends. Fixed
// at the claim and stored on the attempt; worker, shim and server all act on these same terms.
#pragma once

#include <string_view>

#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/timing.h"

namespace perdure {

// exclusive: no two attempts ever overlap. fenced: they may, but only the newest may report.
enum class Isolation { fenced, exclusive };

constexpr std::string_view to_string(Isolation isolation) {
    return isolation == Isolation::fenced ? "fenced" : "exclusive";
}

struct IsolationFacts {
    Effects effects = Effects::repeatable;
    bool holds_key_or_limit = false;  // the queue's limit, too
    std::optional<Duration> hold;     // as the job asks
};

struct Terms {
    Isolation isolation = Isolation::fenced;
    Effects effects = Effects::repeatable;
    bool asks = false;       // O4: commit `running` first, then start
    Duration hold;           // how long it may go on after its lease has ended
    Duration release_after;  // how long after the lease's end the server gives the job away
    std::string_view rule;

    friend bool operator==(const Terms&, const Terms&) = default;
};

Terms decide_terms(const IsolationFacts& facts, const Timing& timing);

// When the shim kills an attempt whose lease is not renewed, on the host's boot clock.
struct LeaseKillFacts {
    Terms terms;
    BootTime lease_until;      // counted from before the renewal was sent
    BootTime worker_heard_at;  // the worker last spoke to the shim
    bool epoch_is_stale = false;
};
struct LeaseKill {
    std::optional<BootTime> at;  // empty: never for a lease
    std::string_view rule;
};
LeaseKill decide_lease_kill(const LeaseKillFacts& facts, const Timing& timing);

}  // namespace perdure
