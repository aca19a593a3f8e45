// Idle costs nothing (rule T4): while nothing is to be done, ticks and renewals may stay in memory.
// What is unwritten goes ahead of the next group that is written, and a server that dies loses it:
// so nothing that anybody was told may rest on it.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/ownership/timing.h"

namespace perdure {

// About a group that consists of ticks, of renewals of the keeper's role, and of heartbeats.
struct UnwrittenFacts {
    // Every session in it has been heard in this life of the server, lists nothing, and says
    // nothing new.
    bool says_nothing_new = false;
    bool has_work = true;            // in `run`, `ready` or `blocked`
    std::optional<Duration> due_in;  // the next deadline of a job that waits, or its date
    Duration unwritten_for;          // since the oldest that is
};
struct UnwrittenDecision {
    bool stays_unwritten = false;
    bool is_idle = false;  // nothing is to be done for a while
    std::string_view rule;
};
UnwrittenDecision decide_unwritten(const UnwrittenFacts& facts, const Timing& timing);

}  // namespace perdure
