// Rows: what the tables say, as C++ values. A job's place is a variant, so that code cannot put it
// into two (J1). The bytes of blobs are rows/codec.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/job/body_hash.h"
#include "core/job/callbacks.h"
#include "core/job/job.h"
#include "core/ownership/claim.h"
#include "core/ownership/hearing.h"
#include "core/ownership/isolation.h"
#include "core/ownership/keeper.h"
#include "core/ownership/service_time.h"
#include "core/ownership/takeover.h"
#include "core/ownership/timeouts.h"
#include "core/policy/cause.h"
#include "core/policy/policy.h"

namespace perdure::store {

// Something that may be large: small ones lie in the attempt's own bytes, others in `large`.
struct BlobRef {
    enum class Where { nowhere, here, apart } where = Where::nowhere;
    std::string bytes;  // if it is here

    bool is_there() const { return where != Where::nowhere; }
};
enum class Large { checkpoint, evidence };

struct AttemptRow {
    Epoch epoch;
    std::uint32_t generation = 0;
    std::uint64_t assignment = 0;
    std::vector<SessionId> owners;  // in order; the last one is the current or last owner
    Terms terms;
    bool start_committed = false;
    bool clean = false;  // its last checkpoint is newer than its last `begin`
    ServiceTime claimed_at;
    WallTime claimed_on;
    std::uint64_t progress_number = 0;  // the newest begin or checkpoint that counted
    std::optional<AttemptEnd> end;
    std::optional<AttemptEnd> late_result;
    std::string_view rule;
    std::optional<WallTime> started_on;
    std::optional<WallTime> ended_on;
    BlobRef checkpoint;
    BlobRef evidence;
    bool unsaved = false;  // it is not, or not like this, in `attempt`

    SessionId session() const { return owners.back(); }
    bool was_owned_by(SessionId session) const;
};

// The worker that should not get the job, while another one may still turn up.
struct Avoid {
    SessionId session;  // stands for its state directory
    ServiceTime until;
};

// A stay in ready and blocked together: promotion does not restart it (E5).
struct QueueEntry {
    QueuePosition order;
    ServiceTime queue_deadline;
    std::optional<Avoid> avoid;
};

struct Timer {
    std::optional<ServiceTime> due;
    std::optional<WallTime> date;
    std::optional<SessionId> avoid;
};
struct Ready {
    QueueEntry entry;
    std::optional<ServiceTime> kept_until;  // set exactly while it holds its permits
};
struct Blocked {
    QueueEntry entry;
    std::optional<Permit> on;  // empty: held by a person
};
struct Run {
    Epoch epoch;
    SessionId session;
    std::uint64_t assignment = 0;
    JobState state = JobState::starting;
    ServiceTime confirm_deadline;
    std::optional<Cause> kill_cause;
    bool recalled = false;  // ordered back; then `confirm_deadline` is when it is given up (O3)
};
// From when on its start counts as late: at once if it was ordered back.
inline ServiceTime late_from(const Run& run) {
    return run.recalled ? ServiceTime{} : run.confirm_deadline;
}
// Waits for others to end: table `awaited`.
struct Wait {
    ServiceTime queue_deadline;
};
struct Outcome {
    JobState state = JobState::failed;
    Cause cause = Cause::exit;
    std::string_view rule;
    bool may_have_run = false;
    bool discarded = false;
    std::optional<ServiceTime> ended_at;  // nothing until it is put there
    WallTime ended_on;
    ServiceTime forget_at;
};
using PlaceRow = std::variant<Timer, Ready, Blocked, Run, Wait, Outcome>;

using ShapeId = std::int64_t;

// What the attempts before the newest have left, so that no attempt costs more than the one before
// it (E4). fsck makes it anew from the attempts.
struct EarlierAttempts {
    std::uint64_t counted_by = 0;  // fingerprint_of() the policy that has counted
    CauseCounts counts;            // of the newest attempt's generation
    Epoch checkpoint;              // the latest that saved one, of any generation; zero: none did

    // What a policy with this mark would count.
    bool are_counted_for(std::uint64_t mark) const {
        return counted_by == mark || counts == CauseCounts{};
    }
};

struct JobRow {
    // Its last attempt was only presumed to have ended and may come back until the next claim.
    struct PresumedLost {
        Epoch epoch;
        SessionId session;
    };

    JobId id;
    ShapeId shape = 0;
    std::shared_ptr<const JobSpec> spec;
    BodyHash body_hash;
    std::vector<Permit> permits;
    ServiceTime submitted_at;
    Epoch epoch;
    std::uint32_t generation = 1;
    std::optional<ServiceTime> total_deadline;
    std::vector<AttemptRow> attempts;  // from some epoch on; at least the newest
    bool has_history = true;           // `attempts` are all of them
    // Of those before them, the ones that were asked for by their epochs. A pointer to one is good
    // until the next is.
    std::vector<AttemptRow> older;
    // Empty: the row is of an earlier release. The next claim reads all attempts, once.
    std::optional<EarlierAttempts> earlier;
    std::optional<PresumedLost> presumed_lost;
    // Another job waits for it, or a callback was added to it. Empty: the row is of an earlier
    // release, and nobody knows.
    std::optional<bool> watched;
    std::vector<Act> acts;  // of people, the oldest first (W2)
    PlaceRow place;
    std::optional<PlaceRow> stored;  // the place that the tables show; empty: a new job
    bool changed = false;            // since it was stored
    // Rows of one line that were read one after the other have numbers one after the other.
    std::uint64_t read_as = 0;

    template <class Row>
    const Row* in() const {
        return std::get_if<Row>(&place);
    }
    // The row in `run`, if it is this very attempt.
    const Run* running(Epoch of) const;
    AttemptRow* attempt(Epoch of);
    const AttemptRow* attempt(Epoch of) const { return const_cast<JobRow*>(this)->attempt(of); }
    bool is_held_by_a_person() const;
    // O9: its newest attempt ended as one; it should run alone next.
    bool is_suspected() const;
    // In `ready`, and must still take its permits at the claim.
    bool wants_its_permits() const { return wants_its_permits(place); }
    bool wants_its_permits(const PlaceRow& in) const;
    // Those before it are stored, and are hardly ever asked for.
    void keep_newest_attempt();
    // The tables show it as it is. Called by the writer.
    void mark_stored() {
        stored = place;
        changed = false;
        read_as = 0;
    }
};

JobState state_of(const PlaceRow& place);
inline JobState state_of(const JobRow& job) { return state_of(job.place); }

// All instants that can move the job where it is now.
WaitFacts wait_facts(const JobRow& job);
// The earliest of them in service time.
std::optional<ServiceTime> wake_at(const JobRow& job);

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

struct ServiceRow {
    ServiceTick clock;
    KeeperRole keeper;
    WallTime wall;                    // the newest known
    std::uint64_t servers_used = 0;   // counts what servers did, to order them by it
    std::uint64_t id_high_water = 0;  // of servers whose rows are gone
    std::uint64_t repairs = 0;
    std::uint64_t fenced = 0;
    std::uint64_t last_recovery = 0;
    std::uint64_t made_id_high_water = 0;  // of the ids that the store itself has drawn
};

struct IdempotencyRow {
    JobId job;
    BodyHash body_hash;
    std::optional<JobState> gone;      // the job was removed; this is how it had ended
    std::optional<ServiceTime> until;  // of a key whose job is gone
};

// A callback that was added later, as it is stored.
struct AddedRow {
    JobId id;  // of the asking
    std::uint32_t number = 0;
    std::uint32_t since_generation = 1;
    Callback callback;
};

inline bool has_awaited(const JobSpec& spec) {
    return spec.callback_of.has_value() || !spec.after.empty();
}

}  // namespace perdure::store
