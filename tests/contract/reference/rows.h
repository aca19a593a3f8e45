// Rows of the reference: one struct for each table. A job's place is a variant, so that it is
// in exactly one by construction (J1); everything else about places is an index (places.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/callbacks.h"
#include "core/cause.h"
#include "core/claim.h"
#include "core/evidence.h"
#include "core/hearing.h"
#include "core/isolation.h"
#include "core/job.h"
#include "core/ledger.h"
#include "core/takeover.h"
#include "core/timeouts.h"

namespace perdure::reference {

// History: written at the claim, completed at the end.
struct AttemptRow {
    Epoch epoch;
    std::uint32_t generation = 0;
    std::uint64_t assignment = 0;
    std::vector<SessionId> owners;  // in order; the last one is the current or last owner
    Terms terms;
    bool start_committed = false;
    bool clean = false;  // its last checkpoint is newer than its last `begin`
    ServiceTime claimed_at;
    std::optional<std::string> checkpoint;  // saved by this attempt
    std::uint64_t progress_number = 0;      // the newest begin or checkpoint that counted
    std::optional<AttemptEnd> end;
    std::optional<AttemptEnd> late_result;
    std::string_view rule;
    WallTime claimed_on;
    std::optional<WallTime> started_on;
    std::optional<WallTime> ended_on;
    EvidenceRef evidence;

    SessionId session() const { return owners.back(); }
    bool was_owned_by(SessionId session) const;
};

// The worker that should not get the job, while another one may still turn up.
struct Avoid {
    SessionId session;  // stands for its state directory
    ServiceTime until;
};

// A stay in ready and blocked together: promotion does not restart it (E5).
struct Stay {
    ClaimOrder order;
    ServiceTime queue_deadline;
    std::optional<Avoid> avoid;
};

struct Timer {
    std::optional<ServiceTime> due;
    std::optional<WallTime> date;
    std::optional<SessionId> avoid;
};
struct Ready {
    Stay stay;
    std::optional<ServiceTime> kept_until;  // set exactly while it holds its things
};
struct Blocked {
    Stay stay;
    std::optional<Thing> on;  // nothing: held by a person
};
struct Run {
    Epoch epoch;
    SessionId session;
    std::uint64_t assignment = 0;
    JobState state = JobState::starting;
    ServiceTime confirm_deadline;
    std::optional<Cause> order;
    bool recalled = false;  // ordered back; then `confirm_deadline` is when it is given up (O3)
};
// Waits for others to end: JobRow::awaited.
struct Wait {
    ServiceTime queue_deadline;
};
struct Outcome {
    JobState state = JobState::failed;
    Cause cause = Cause::exit;
    std::string_view rule;
    bool may_have_run = false;
    bool discarded = false;
    std::optional<ServiceTime> ended_at;  // set when it is put into its place, like the next two
    WallTime ended_on;
    ServiceTime forget_at;
};
using PlaceRow = std::variant<Timer, Ready, Blocked, Run, Wait, Outcome>;

// What a job waits for, or whose callback it is. Filled in when that one ends, and then its own.
struct AwaitedRow {
    After after;
    std::optional<Input> ended;
};
// A callback that was added later.
struct AddedRow {
    JobId id;  // of the asking
    std::uint32_t since_generation = 1;
    Callback callback;
};

struct JobRow {
    // Its last attempt was only presumed to have ended and may come back until the next claim.
    struct PresumedLost {
        Epoch epoch;
        SessionId session;
    };

    JobId id;
    std::shared_ptr<const JobSpec> spec;
    std::uint64_t body_hash = 0;
    Shape shape;
    std::vector<Thing> things;
    Epoch epoch;
    std::uint32_t generation = 1;
    ServiceTime submitted_at;
    std::optional<ServiceTime> total_deadline;
    std::vector<AttemptRow> attempts;
    std::optional<PresumedLost> presumed_lost;
    std::vector<AwaitedRow> awaited;
    std::vector<AddedRow> added;
    std::map<std::pair<std::uint32_t, std::uint32_t>, JobId> made;  // by generation and number
    std::vector<Recovery> recoveries;  // its entries of the ledger, in order
    PlaceRow place;

    template <class Row>
    const Row* in() const {
        return std::get_if<Row>(&place);
    }
    // The row in `run`, if it is this very attempt.
    const Run* running(Epoch of) const;
    AttemptRow* attempt(Epoch of);
    const AttemptRow* attempt(Epoch of) const;
    bool is_held_by_a_person() const;
    // O9: its newest attempt ended as one; it should run alone next.
    bool is_suspected() const;
    // In `ready`, and must still take its things at the claim.
    bool wants_its_things() const;
};

JobState state_of(const JobRow& job);

// All instants that can move the job where it is now.
WaitFacts wait_facts(const JobRow& job);
// The earliest of them in service time.
std::optional<ServiceTime> wake_at(const JobRow& job);

// What the latest attempt before `epoch` that saved something has left: goes into the assignment.
std::string checkpoint_before(const JobRow& job, Epoch epoch);

struct SessionRow {
    SessionId id;
    StateDirectory directory;
    std::uint64_t life = 0;
    std::string worker;
    bool open = true;
    std::uint64_t stream = 0;
    std::uint64_t assignments = 0;
    std::uint64_t heartbeat = 0;
    std::uint64_t content_hash = 0;
    std::uint64_t seen = 0;
    std::uint64_t renewal = 1;
    std::uint32_t slots = 0;
    bool draining = false;  // it has said that it leaves
    Offer offer;
    ServiceTime lease_deadline;
    ServiceTime heard_at;
    std::uint32_t given_up = 0;  // attempts presumed lost since its last renewal (E4: "alone")
    Hearing hearing;
    std::shared_ptr<const PolicyChoice> policy;  // of its worker, if that has one of its own
};

// Where a directory is: everything that identifies it but the boot.
using DirectoryPlace = std::tuple<std::string, std::uint64_t, std::uint64_t>;
inline DirectoryPlace place_of(const StateDirectory& d) { return {d.machine, d.device, d.inode}; }

struct ServerRow {
    std::uint32_t number = 0;
    std::uint64_t id_high_water = 0;
    std::uint64_t last_group = 0;
    std::uint64_t fence = 0;
    std::uint64_t used = 0;  // when it last spoke, as a count of such events
};

struct IdempotencyRow {
    JobId job;
    std::uint64_t body_hash = 0;
    std::optional<JobState> gone;      // the job was removed; this is how it had ended
    std::optional<ServiceTime> until;  // of a key whose job is gone
};

}  // namespace perdure::reference
