// Hearing (rule O3): whether a session that is heard also hears. One that sends heartbeats and
// confirms no start is *deaf*: it is not lost, and giving it work costs each job its confirmation.
// It is tried with one claim at a time, ever more rarely, until any start of it is confirmed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/explain/detector.h"
#include "core/ownership/timing.h"
#include "core/policy/cause.h"

namespace perdure {

// So many starts of different jobs in a row: one job on a hung mount deafens nobody.
inline constexpr std::size_t deaf_after = 3;

// What a session's row knows of it.
struct Hearing {
    std::vector<JobId> unconfirmed;  // different jobs, since the last confirmed start; few
    Duration wait;                   // before its next claim; zero: it is not deaf
    ServiceTime claims_from;         // while it is deaf

    friend bool operator==(const Hearing&, const Hearing&) = default;
    bool is_deaf() const { return wait != Duration{}; }
};

// What has just been seen of the session.
struct HearingFacts {
    enum class Event {
        unconfirmed,  // a start was given up or handed back at its deadline, while it was heard
        confirmed,    // a start, a late one of an attempt that is not its own any more included
        claimed,      // it was given a job
    };
    Hearing known;
    Event event = Event::confirmed;
    JobId job;
    ServiceTime now;
};
struct HearingDecision {
    Hearing hearing;
    bool turned_deaf = false;  // by this very event
    std::string_view rule;
};
// Whether an end is a start that a session which is heard has not confirmed: given up or handed
// back at its deadline, or not in its list though it has seen the assignment.
bool is_unconfirmed_start(const AttemptEnd& end, const Sighting& seen);

HearingDecision decide_hearing(const HearingFacts& facts, const Timing& timing);

}  // namespace perdure
