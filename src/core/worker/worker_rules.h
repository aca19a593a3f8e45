// What a worker decides by itself: what it has found on disk, which assignments it takes, when it
// asks and when it kills (rules O4 to O10). Same facts, same decision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/isolation.h"
#include "core/ownership/reconcile.h"
#include "core/ownership/timing.h"
#include "core/policy/cause.h"

namespace perdure {

// O1: how long the end of an attempt waits for output of which nothing is taken, and at all.
inline constexpr Duration output_patience = seconds(5);
inline constexpr Duration output_patience_in_all = seconds(30);

// The end of an attempt that certainly did not run, as its worker reports it.
AttemptEnd did_not_run(Cause cause);

// An attempt's directory, found at a worker's start (O4, O5, O8).
struct FoundFacts {
    bool has_result = false;
    bool started = false;
    bool shim_alive = false;
};
struct FoundDecision {
    Listed::Phase phase = Listed::Phase::unstarted;  // as the opening message lists it
    std::optional<AttemptEnd> end;  // to be reported; if there is a result, that one is
    std::string_view rule;
};
FoundDecision decide_found(const FoundFacts& facts);

// An assignment that arrives, on the stream or sent again (O6, O8).
struct AssignmentFacts {
    bool known = false;    // this very attempt is here
    bool handled = false;  // this number was taken before, in this session
    std::uint64_t number = 0;
    std::uint64_t named = 0;  // the highest number that a heartbeat of ours has named
    Epoch epoch;
    std::optional<Epoch> other;  // the newest other epoch of the same job that is here
    bool takes_new = true;       // false while it drains or detaches
};
enum class AssignmentAnswer {
    take,
    take_and_kill_older,
    hand_back,  // say at once that it did not run
    ignore,     // it is here, or was
    discard,    // the server has been told that it is not here
};
struct AssignmentDecision {
    AssignmentAnswer answer = AssignmentAnswer::discard;
    std::string_view rule;
};
AssignmentDecision decide_assignment(const AssignmentFacts& facts);

// Why a shim could not be prepared: the end that is reported.
Cause decide_prepare_failure(Errc code);

// Whether to ask for a start now (O4).
struct AskFacts {
    bool asks = false;
    bool prepared = false;  // its shim waits for the order
    bool started = false;
    bool killed = false;
    bool may_start = true;             // false while the worker drains or detaches
    bool lease_is_good = true;         // a start would not be refused for the lease
    std::optional<BootTime> go_until;  // of the last go
    BootTime now;
};
struct AskDecision {
    bool ask = false;
    std::string_view rule;
};
AskDecision decide_ask(const AskFacts& facts);

// When the worker itself kills for a lease (O7): later than the shim, unless it is about to speak
// to a server, perhaps after a long pause: then nothing that is overdue may be alive.
struct WorkerKillFacts {
    Terms terms;
    bool may_run = false;                 // started, or ordered to
    std::optional<BootTime> lease_until;  // empty: this life has none yet, the shims know theirs
    BootTime now;
    bool about_to_send = false;
};
struct WorkerKill {
    std::optional<BootTime> at;
    std::string_view rule;
};
WorkerKill decide_worker_kill(const WorkerKillFacts& facts, const Timing& timing);

// Whether the end of an attempt, whose output no server has taken yet, is kept waiting for it (O1).
// Time counts only while a server answers: without one the end cannot be reported either.
struct OutputFacts {
    bool server_answers = false;
    Duration waits_for;  // since the end, or since a server answers
    Duration quiet_for;  // since then, or since the last piece that was taken
};
struct OutputDecision {
    bool keep_trying = false;
    std::string_view rule;
};
OutputDecision decide_output(const OutputFacts& facts);

// Whether a worker that drains may go. It stays while it has something to report, and until a
// server has accepted that it takes nothing more; where no server answers, there is nobody to tell.
struct LeaveFacts {
    bool has_attempts = false;
    bool announced = false;
    bool has_session = false;
    Duration draining_for;
};
struct LeaveDecision {
    bool leave = false;
    bool evict = false;  // what still runs has had its time
    std::string_view rule;
};
LeaveDecision decide_leave(const LeaveFacts& facts, const Timing& timing);

// A report that the server refuses as invalid: what it cannot read must not keep the rest back.
struct RefusedFacts {
    std::size_t items = 1;
    bool has_evidence = false;  // of an end
};
// set_aside: repeated later and without its neighbours' waiting; a result is never thrown away.
enum class RefusedDecision { halve, without_evidence, set_aside };
RefusedDecision decide_refused(const RefusedFacts& facts);

}  // namespace perdure
