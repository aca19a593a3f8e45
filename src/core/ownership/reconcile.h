// Reconcile (rule O6): a heartbeat lists what a session has; the store says what it should have.
// The differences are settled here, attempt by attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/job/job.h"
#include "core/ownership/isolation.h"
#include "core/policy/cause.h"

namespace perdure {

// One attempt as its worker sees it.
struct Listed {
    enum class Phase { unstarted, running, ended };  // ended: and not yet acknowledged
    AttemptKey attempt;
    std::uint64_t assignment = 0;
    Phase phase = Phase::unstarted;

    friend bool operator==(const Listed&, const Listed&) = default;
};

// Whether a heartbeat counts at all.
struct HeartbeatFacts {
    bool session_is_open = false;
    std::uint64_t last_number = 0;
    std::uint64_t number = 0;
    bool same_content = true;  // as the last one; only looked at if the numbers are equal
};
enum class HeartbeatAnswer { accept, ignore, session_ended, cloned };
struct HeartbeatDecision {
    HeartbeatAnswer answer = HeartbeatAnswer::ignore;
    std::string_view rule;
};
HeartbeatDecision decide_heartbeat(const HeartbeatFacts& facts);

// One attempt, from both sides.
struct ReconcileFacts {
    // The store's side.
    bool in_run = false;           // owned by this session, this epoch
    bool presumed_lost = false;    // this epoch was only presumed to have ended, by this session
    bool owned_elsewhere = false;  // this epoch runs, but under another session
    Epoch store_epoch;             // the job's newest
    JobState state = JobState::starting;
    bool asks = false;
    bool clean = false;
    Isolation isolation = Isolation::fenced;
    std::optional<Cause> kill_cause;
    bool recalled = false;  // it was ordered back, and has not been given up yet
    std::uint64_t assignment = 0;
    bool may_have_begun = true;
    bool began_here = true;  // in the directory, and the boot, of the worker that lists it
    bool job_ended = false;
    bool job_gone = false;     // it had ended, and retention has removed it
    bool quarantined = false;  // that is how it ended, and nobody has dealt with it
    Effects effects = Effects::repeatable;
    // The worker's side.
    std::optional<Listed> listed;
    std::uint64_t seen = 0;  // the number that the heartbeat names
};

struct ReconcileDecision {
    enum class Kind {
        nothing,
        confirm_start,    // it runs; the confirmation was lost
        did_not_start,    // settle it: it did not run
        lost,             // settle it: it may have run, and its worker does not have it
        reinstate,        // it was presumed lost and is alive
        resend,           // send the assignment again
        stop,             // tell the worker: this attempt is not yours any more
        kill,             // tell the worker: kill it for the cause that was ordered
        recall,           // tell the worker: hand it back unless it has started
        store_is_behind,  // the worker knows an epoch that the store has never given out
    };
    Kind kind = Kind::nothing;
    std::string_view rule;
    std::optional<AttemptEnd> end;  // for did_not_start and lost: how it ended
};

ReconcileDecision decide_reconcile(const ReconcileFacts& facts);

// A job of which a worker lists an attempt that its session does not own. As it stands here the
// store does not know it: it was never given out, or has been removed.
struct StrangersJob {
    Epoch epoch;
    JobState state = JobState::ready;
    bool presumed_lost = false;
    bool discarded = false;
    bool gone = false;  // it is not there, and may have been
    Effects effects = Effects::repeatable;
    // Of its newest attempt.
    Isolation isolation = Isolation::fenced;
    bool may_have_begun = true;  // it need not ask, or has got its go
    bool began_here = true;      // in the directory, and the boot, of the worker that lists it
};
ReconcileFacts stranger_facts(const StrangersJob& job, const Listed& listed, std::uint64_t seen);

}  // namespace perdure
