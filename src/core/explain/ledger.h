// Ledger: every automatic repair, told once [P5] [P10]. An entry is written by the transaction that
// makes the repair. Worth one is
//   - every end of an attempt that is neither the job's own doing (success, a failure that is
//     final) nor a person's act, and every wait that ended by its deadline;
//   - everything that was brought back instead: adopted, reinstated, promoted.
// What is decided here is only what is worth an entry, and how it is told.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/explain/detector.h"
#include "core/job/job.h"
#include "core/ownership/timeouts.h"
#include "core/policy/cause.h"
#include "core/policy/recovery.h"

namespace perdure {

// What had happened. A worker that is stopped, one that dies and comes back, and one that is lost
// are three different things.
enum class Incident {
    job_failed,        // the process ended by itself, and its policy tries again
    process_died,      // killed, out of memory, or its shim was
    did_not_start,     // no shim, no lock, no such command, or nothing was heard of its start
    timed_out,         // in the queue, while it ran, idle, or in all
    cut_off,           // its worker reached no server, and ended it
    worker_stopped,    // by a person: what ran was handed back, evicted, or left for the next life
    worker_restarted,  // it died and came back on its own state directory
    worker_lost,       // nothing was heard of it any more
    host_restarted,    // its host was started anew
    worker_returned,   // it was taken for lost, and was not
    wakeup_missed,     // a bug of ours, repaired
    worker_crashes,    // it crashed again and again while the attempt ran (O9)
    worker_deaf,       // it is heard, and confirms no start any more (O3)
};
inline constexpr std::array<std::string_view, 13> incident_names = {
    "job_failed",     "process_died",     "did_not_start", "timed_out",      "cut_off",
    "worker_stopped", "worker_restarted", "worker_lost",   "host_restarted", "worker_returned",
    "wakeup_missed",  "worker_crashes",   "worker_deaf",
};
constexpr std::string_view to_string(Incident incident) {
    return incident_names[static_cast<std::size_t>(incident)];
}

// What was done about it.
enum class Repair {
    run_again_now,
    run_again_later,
    run_again_on_date,
    adopted,     // goes on under the worker's new life, epoch unchanged
    reinstated,  // goes on, or its result counts, although it had been given up
    promoted,
    quarantined,
    failed,
    expired,
};
inline constexpr std::array<std::string_view, 9> repair_names = {
    "run_again_now", "run_again_later", "run_again_on_date", "adopted", "reinstated", "promoted",
    "quarantined",   "failed",          "expired",
};
constexpr std::string_view to_string(Repair repair) {
    return repair_names[static_cast<std::size_t>(repair)];
}

struct RepairFacts {
    Sighting seen;
    std::optional<AttemptEnd> end;  // empty: it was brought back
    Next next;                      // if it ended
    bool presumed_before = false;   // it had been given up, and this is the truth about it
};
struct RepairDecision {
    Incident incident = Incident::process_died;
    Repair repair = Repair::run_again_now;
    std::string_view rule;  // that decided what is done
};
// Empty: not worth an entry.
std::optional<RepairDecision> decide_repair(const RepairFacts& facts);

// One entry of the ledger.
struct Recovery {
    std::uint64_t id = 0;  // in the order of their commits; never used again
    AttemptKey attempt;    // before; epoch 0: there was none yet
    Detector detector = Detector::report;
    Incident incident = Incident::process_died;
    Repair repair = Repair::run_again_now;
    std::optional<AttemptEnd> end;
    Effects effects = Effects::repeatable;
    std::string_view seen_by;  // the rule by which it was seen
    std::string_view rule;     // the rule that decided
    Duration time_to_detect;
    Duration wait;  // run_again_later: the policy's, in service time
    std::string worker;
    WallTime on;

    friend bool operator==(const Recovery&, const Recovery&) = default;
};

// The entry of a decision, without its number and the time.
Recovery recovery_of(AttemptKey attempt, Effects effects, const RepairFacts& facts,
                     const RepairDecision& decision);

// Was the attempt before replaced by a new one?
constexpr bool runs_again(Repair repair) {
    return repair == Repair::run_again_now || repair == Repair::run_again_later ||
           repair == Repair::run_again_on_date;
}

constexpr bool is_brought_back(Repair repair) {
    return repair == Repair::adopted || repair == Repair::reinstated || repair == Repair::promoted;
}

// A job that waited, and that decide_wait() has ended.
RepairFacts expiry_facts(const WaitFacts& facts, const WaitDecision& decision, JobState ends_as);

// The entry for people: what had happened, what was done about it, and both in one sentence.
std::string describe_incident(const Recovery& entry);
std::string describe_repair(const Recovery& entry);
std::string story_of(const Recovery& entry);
// What a sweep does with a job that waits.
std::string_view story_of(const WaitDecision& decision);

}  // namespace perdure
