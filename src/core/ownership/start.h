// Starting (rule O4): whether a start counts, and when the shim may exec.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/isolation.h"

namespace perdure {

// An ask ("may I start?") or a confirmation ("I have started"), seen by the server.
struct StartFacts {
    bool in_run = false;            // this very (job, epoch) is in `run`
    bool session_is_owner = false;  // and owned by the session that speaks
    JobState state = JobState::starting;
    bool asks = false;
    bool kill_ordered = false;
    bool presumed_lost = false;  // not in `run`, but it may still come back (O1)
};

// again: not decided here; the heartbeat that lists it brings it back.
enum class StartAnswer { go, fenced, again };

struct StartDecision {
    StartAnswer answer = StartAnswer::fenced;
    bool commit_running = false;  // first time: write `running` before answering
    std::string_view rule;
};

StartDecision decide_start(const StartFacts& facts);

// The rule by which nothing may begin on this lease; empty: it may. `hold` lets a running attempt
// go on; it is no right to begin one.
std::string_view lease_forbids_start(const Terms& terms, BootTime lease_until, BootTime now,
                                     const Timing& timing);

// Whether the shim may exec now. Checked immediately before `started` is written durably.
struct ExecFacts {
    Terms terms;
    BootTime now;
    std::optional<BootTime> go_until;  // empty: no go has come
    BootTime lease_until;
    bool already_started = false;  // `started` is in the attempt's directory
    bool kill_ordered = false;
};

enum class ExecAnswer { exec, not_yet, never };

struct ExecDecision {
    ExecAnswer answer = ExecAnswer::never;
    std::string_view rule;
};

ExecDecision decide_exec(const ExecFacts& facts, const Timing& timing);

}  // namespace perdure
