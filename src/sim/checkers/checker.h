// Checker: watches a run and reports the first broken promise, by id.
//   after each exec     [P2] [P4] one start per attempt, durable before; `once` once; O7 no overlap
//   after each commit   [P2] [P9] ended stays ended, epochs rise, ends are true; O6 numbers
//                       [P7] each end has made its callbacks; nobody runs before what it waits for
//   in full, regularly  [P1] [P3] [P6] [P8] every accepted job is in exactly one place with a
//                       deadline, holders match, budgets hold, nothing is left behind
//                       [P5] the ledger tells every repair; E2 no careless release
//   after each wait     T2 it was not too short on the true clock
//   after each claim    E6 E7 C4 by whom, in what order, from which queue, under which limit
//   at the end          [P5] liveness: everything that can end has ended
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/explain/ledger.h"
#include "ports/views.h"
#include "sim/checkers/history.h"
#include "sim/host/witness.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace perdure::sim {

class Checker {
public:
    struct Parts {
        World& world;
        const Plan& plan;
        const Witness& witness;
        const History& history;
        // A frozen machine runs nothing; it must act at once when it wakes.
        std::function<bool(std::uint32_t host)> is_frozen;
        std::function<std::optional<SessionView>(SessionId)> session;
        std::function<std::optional<JobView>(JobId)> job;
        // Somebody who is not broken for good takes such jobs.
        std::function<bool(const Shape&)> is_served;
        std::function<const std::string&(AttemptKey)> output;  // what is kept of it
    };
    explicit Checker(Parts parts) : parts_(std::move(parts)) {}

    // A process has just begun; `job` is the store's view of it at this instant.
    void began(const WitnessedRun& run, const JobView* job);
    // A job may have changed.
    void changed(const JobView& job);
    // All that may have changed in the same transactions was told: turn_check.cpp.
    void check_turns();
    // Everything, from one snapshot.
    // `heard`: hosts whose worker has a live session now.
    void full(const AuditView& audit, const std::map<SessionId, SessionView>& sessions,
              const std::set<std::uint32_t>& heard);
    // The whole ledger, at the same snapshot.
    using Ledger = std::map<JobId, std::vector<Recovery>>;
    void ledger(const AuditView& audit, const Ledger& entries);
    // output_check.cpp: a piece of output is about to be kept.
    void kept(const LogChunk& chunk);
    // The end of a run in liveness mode.
    void finished(const AuditView& audit);
    // No violation, but no proof of much either.
    bool too_little_happened() const;

    const std::optional<Violation>& violation() const { return violation_; }
    void report(std::string promise, std::string what);

private:
    // A wait in service time, and the earliest instant at which it can have begun.
    struct Wait {
        TrueTime from;
        Duration length;
    };
    // What was last seen of a job.
    struct Known {
        JobState state = JobState::scheduled;
        Epoch epoch;
        std::uint32_t generation = 0;
        std::shared_ptr<const JobSpec> spec = {};
        bool is_in_run = false;
        std::optional<ServiceTime> kept_until = std::nullopt;  // key and limits, for "retry now"
        bool discarded = false;
        std::optional<ServiceTime> ended_at = std::nullopt;
        std::optional<Wait> wait = std::nullopt;  // before its next run
    };
    void check_exclusive(const WitnessedRun& run);
    void check_once(const WitnessedRun& run, const JobView& job);
    void check_resumable(const WitnessedRun& run, const JobView& job);
    void check_cancel(const WitnessedRun& run, const JobView& job);
    void check_ends(const JobView& job);
    void check_given_up(const JobView& job, const AttemptView& attempt);
    void check_unstarted(const JobView& job, const AttemptView& attempt);
    void check_stale(const WitnessedRun& run, const JobView& job);
    // A policy that has judged ends of a job, and what it counts.
    struct Judge {
        PolicyChoice policy;
        std::set<Epoch> judged;
        CauseCounts counts;
    };
    PolicyChoice judge_of(const JobView& job, const AttemptView& attempt) const;
    std::vector<Judge> judges_of(const JobView& job) const;
    void check_budget(const JobView& job);
    void check_judgement(const JobView& job);
    void check_rule(const JobView& job, const AttemptView& attempt, const Judge& judge,
                    const AttemptEnd& end);
    void check_release(const JobView& job, std::uint32_t generation_before);
    void check_numbers(const JobView& job);
    void check_place(const JobView& job, const AuditView& audit,
                     const std::map<SessionId, SessionView>& sessions);
    void check_holders(const AuditView& audit);
    void check_accepted(const AuditView& audit);
    using JobsById = std::map<JobId, const JobView*>;
    bool may_be_late(const JobView& job, const JobsById& jobs) const;
    void check_left_behind(const AuditView& audit);
    void check_awaited(const WitnessedRun& run, const JobView& job);
    void check_made(const JobView& job);
    void check_relations(const AuditView& audit);
    void check_parent(const JobView& job, const std::map<JobId, const JobView*>& jobs,
                      ServiceTime now);
    // wait_check.cpp
    Duration earliness_allowed(Duration wait) const;
    std::optional<TrueTime> died_at(const JobView& job) const;
    std::optional<Wait> retry_wait_of(const JobView& job, const Known& before) const;
    void check_waits(const JobView& job, const Known& before);
    void check_wait(const JobView& job, TrueTime from, Duration wait, const char* name);
    // claim_check.cpp
    void check_claim(const JobView& job, const Known& before);
    void check_order(const JobView& job, const Offer& offer);
    // turn_check.cpp
    struct Taken {
        std::shared_ptr<const JobSpec> spec;
        Offer offer;  // of the worker that claimed it
        bool may_be_first_in_line = false;
    };
    void check_passes(const Taken& by, const std::vector<Taken>& all);
    void note_served(const JobSpec& taken);
    bool may_have_kept(const SessionView& session, const Known& before) const;
    void check_room(const JobView& job, const Permit& limit);
    void check_limits(const WitnessedRun& run);
    void check_key(const JobView& job);
    void check_output(const JobView& job);
    std::string describe(JobId job, ServiceTime now) const;
    bool may_be_gone(JobId job, ServiceTime now) const;
    bool must_be_gone(JobId job, ServiceTime now) const;
    std::optional<std::pair<Duration, Duration>> kept_for(JobId job) const;

    Parts parts_;
    std::map<JobId, Known> known_;
    std::map<SubmitKey, JobId> keys_;
    std::map<AttemptKey, std::uint32_t> claimed_under_;  // how many its limit allowed then
    // How often a job that waits was passed over, by queue, or by share of its own queue.
    struct LineName {
        std::string queue;
        std::string share = {};
        friend auto operator<=>(const LineName&, const LineName&) = default;
    };
    std::map<JobId, std::map<LineName, std::uint32_t>> passes_;
    std::vector<Taken> taken_;  // since check_turns()
    std::set<JobId> waited_;    // and had never run, when it was last called
    ServiceTime now_;           // the newest that was seen
    std::set<AttemptKey> began_;
    struct SeenEnd {
        TrueTime at;  // when the store was first seen to say so
        bool reported = false;
    };
    std::map<AttemptKey, SeenEnd> ended_;
    std::map<std::pair<SessionId, std::uint64_t>, AttemptKey> numbers_;
    std::map<std::uint32_t, TrueTime> heard_since_;  // hosts that have been heard without a gap
    std::optional<Violation> violation_;
};

}  // namespace perdure::sim
