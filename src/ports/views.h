// Views: what a store shows. Plain values, each from one snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/job/callbacks.h"
#include "core/job/job.h"
#include "core/ownership/claim.h"
#include "core/ownership/isolation.h"
#include "core/ownership/keeper.h"
#include "core/ownership/reconcile.h"
#include "core/ownership/service_time.h"
#include "core/ownership/takeover.h"
#include "core/ownership/timeouts.h"
#include "core/policy/cause.h"
#include "core/policy/policy_book.h"
#include "core/policy/recovery.h"
#include "ports/changes.h"
#include "ports/damage.h"

namespace perdure {

struct ServiceView {
    ServiceTick clock;
    KeeperRole keeper;
    bool idle = false;  // nothing in `run`, and nothing is due before the next slow tick
    std::uint64_t id_high_water = 0;  // no job with a higher id was ever stored
};

// One row of `attempt`: history, written at the claim and completed at the end.
struct AttemptView {
    Epoch epoch;
    std::uint32_t generation = 0;
    SessionId session;  // current or last owner
    std::uint64_t assignment = 0;
    Terms terms;
    bool start_committed = false;
    ServiceTime claimed_at;
    std::optional<AttemptEnd> end;          // nothing while in `run`
    std::optional<AttemptEnd> late_result;  // evidence that came after the end
    std::string_view rule;                  // what ended it
    WallTime claimed_on;                    // for people; nothing is decided by it
    std::optional<WallTime> started_on;     // when its start was committed
    std::optional<WallTime> ended_on;
    EvidenceRef evidence;  // of its result, or of its late result
};

// Which attempts of a job are shown: the newest before one, at most so many (C8). Any of them can
// be reached like that.
inline constexpr std::uint32_t attempts_shown_max = 1'000;
struct AttemptWindow {
    Epoch before{UINT32_MAX};
    std::uint32_t max = attempts_shown_max;
};
inline AttemptWindow only(Epoch epoch) { return {.before = epoch.next(), .max = 1}; }

// The row in `run`.
struct RunView {
    AttemptKey attempt;
    SessionId session;
    std::uint64_t assignment = 0;
    JobState state = JobState::starting;
    Terms terms;
    bool clean = false;
    std::optional<Cause> kill_cause;
    bool recalled = false;  // ordered back (O3)
    ServiceTime confirm_deadline;
    std::shared_ptr<const JobSpec> spec;
    std::string checkpoint;
    CauseCounts counts;         // of the earlier attempts of this generation, by deciding_policy()
    std::vector<Input> inputs;  // what it waited for
    std::shared_ptr<const PolicyChoice> worker_policy;  // of its session, if that has one
};

// What judges its end.
inline PolicyChoice deciding_policy(const RunView& run) {
    return policy_for_attempt(run.spec->policy, run.worker_policy.get());
}

// So many rows of what runs, whoever's they are, are looked at for a piece of one session's.
inline constexpr std::uint32_t runs_read_max = 1'000;
struct SessionView {
    SessionId session;
    StateDirectory directory;
    std::uint64_t life = 0;
    std::string worker;
    bool open = false;
    std::uint64_t stream = 0;
    std::uint64_t assignments = 0;  // the counter: the last number drawn
    std::uint64_t heartbeat = 0;    // the last number accepted
    std::uint64_t content_hash = 0;
    std::uint64_t seen = 0;
    std::uint64_t renewal = 0;
    std::uint32_t slots = 0;
    bool draining = false;
    Offer offer;
    ServiceTime lease_deadline;
    ServiceTime heard_at;
    Hearing hearing;
    std::shared_ptr<const PolicyChoice> policy;  // of its worker, if that has one of its own
    std::vector<RunView> runs;                   // of a piece, in order of assignment numbers
    std::optional<JobId> more_runs;              // it goes on behind this job; empty: that was all
    ServiceTick clock;
};

// A session without what runs in it.
struct OwnerView {
    SessionId session;
    StateDirectory directory;
    std::string worker;
    bool open = false;
    ServiceTime lease_deadline;
    ServiceTime heard_at;
    ServiceTick clock;
};

// What a sweep has to look at besides attempts. Hints: it judges by itself (Sweep).
struct OverdueView {
    ServiceTick clock;
    std::vector<JobId> waiting;  // an instant of theirs has come, in order of these
    // Permits that are freer than they are offered: jobs of some shape are blocked on one, and
    // fewer of that shape are `ready` for it than could take it. Must be empty.
    std::vector<Permit> free_permits;
};

// What a job waits for, or has waited for: its `after`, or the job whose callback it is.
struct AwaitedView {
    After after;
    std::optional<Input> ended;  // empty: it has not
};
struct AddedCallback {
    std::uint32_t number = 0;
    std::uint32_t since_generation = 1;
    Callback callback;
};
struct MadeCallback {
    std::uint32_t generation = 1;
    std::uint32_t number = 0;
    JobId job;  // may be gone: callbacks have a retention of their own
};

struct JobView {
    JobId id;
    std::shared_ptr<const JobSpec> spec;
    JobState state = JobState::ready;
    Epoch epoch;
    std::uint32_t generation = 1;
    ServiceTime submitted_at;
    // In order of epochs, all generations: those of the window that was asked for. Epochs are
    // without gaps from 1 on.
    std::vector<AttemptView> attempts;
    // Where it is; which of them are set depends on the state.
    std::optional<ServiceTime> queue_deadline;
    std::optional<ServiceTime> total_deadline;
    std::optional<ServiceTime> due;
    std::optional<WallTime> date;
    std::optional<ServiceTime> kept_until;
    std::optional<Permit> blocked_on;  // blocked without a permit: held by a person
    std::optional<RunView> run;
    std::vector<AwaitedView> awaited;
    std::vector<AddedCallback> added;  // in order of numbers, from behind those of the spec on
    std::vector<MadeCallback> made;    // by the ends of its generations, in order
    std::vector<Act> acts;             // of people, the oldest first (W2)
    bool presumed_lost = false;        // its last attempt may still come back
    // If it has ended:
    Cause cause = Cause::exit;
    std::string_view rule;
    bool may_have_run = false;
    bool discarded = false;
    std::optional<ServiceTime> ended_at;
    std::optional<WallTime> ended_on;
    std::optional<ServiceTime> forget_at;  // its retention is over
};

// All callbacks of a job, as its ends see them.
inline std::vector<CallbackRule> rules_of(const JobView& job) {
    std::vector<CallbackRule> rules;
    std::uint32_t number = 0;
    for (const auto& callback : job.spec->callbacks) rules.push_back({number++, callback.on});
    for (const auto& added : job.added)
        rules.push_back({added.number, added.callback.on, added.since_generation});
    return rules;
}

struct HolderView {
    Permit permit;
    std::uint32_t slot = 0;
    JobId job;
};

// Where an audit goes on. Holders come first.
struct AuditPlace {
    JobId job;                                        // behind this one
    std::optional<HolderView> holder = std::nullopt;  // there are more holders, behind this one
};

// So many made callbacks of a job are shown, the oldest; nobody compares those of a job with more.
inline constexpr std::uint32_t made_shown_max = 1'000;

// A piece of all that is stored (C8): some of the holders, or all that are left and some jobs.
struct AuditView {
    std::vector<JobView> jobs;
    std::vector<HolderView> holders;
    std::vector<JobId> owed_ends;      // of which not all who wait know yet (C8); the first piece's
    std::vector<Permit> owed_permits;  // that were not offered to all who wait (C8); likewise
    std::uint64_t repairs = 0;         // promotions that only the sweep made: our bugs
    std::uint64_t fenced = 0;          // refusals counted
    ServiceTick clock;
    std::vector<Damaged> damaged;    // jobs of this piece that cannot be understood
    std::optional<AuditPlace> next;  // empty: that was all
};

}  // namespace perdure
