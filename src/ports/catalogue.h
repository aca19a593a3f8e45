// Catalogue: what people look at. Reads only; each answer is one consistent snapshot, may be a
// moment old, and no decision rests on it. Stores implement it beside `Store`.
//
// No read touches more than a bounded number of rows (C8): what does not fit is said in pieces,
// each with the place where the next one begins. A piece may be empty and still have a next one:
// nothing was found yet. overloaded: too many reads wait, or this one took too long.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/explain/ledger.h"
#include "core/job/job.h"
#include "ports/task.h"
#include "ports/views.h"

namespace perdure {

// Who asks. A read of somebody who has gone is not begun, or given up.
struct ReadTerms {
    std::shared_ptr<const std::atomic<bool>> gone = nullptr;

    bool is_given_up() const { return gone && gone->load(); }
};

struct JobQuery {
    JobId job;
    AttemptWindow attempts = {};
};
using SessionNames = std::map<SessionId, std::string>;  // the workers behind sessions
struct JobShown {
    JobView job;
    SessionNames workers;  // who had the attempts that are shown, as far as that is known
};

// So many jobs are looked at for one page, and so many of them read as a whole.
inline constexpr std::uint32_t list_walk_max = 10'000;
inline constexpr std::uint32_t list_read_max = 2'000;

struct JobFilter {
    std::string tenant = "default";
    std::vector<JobState> states;  // empty: all
    std::optional<std::string> queue;
    std::optional<std::string> kind;
    std::optional<std::string> key;
    std::optional<Cause> cause;            // of its end
    std::optional<WallTime> ended_before;  // and when
    bool undealt = false;                  // nobody has discarded it yet
    std::optional<JobId> before;           // the cursor: only older jobs
    std::uint32_t limit = 50;
};

// One line of a list. A JobView without its history.
struct JobLine {
    JobId id;
    std::shared_ptr<const JobSpec> spec;
    JobState state = JobState::ready;
    Epoch epoch;
    std::uint32_t generation = 1;
    std::optional<Cause> cause;  // if it has ended
    std::optional<WallTime> ended_on;
    bool may_have_run = false;
    bool discarded = false;
    std::optional<std::string> worker;  // if it is in `run`
    // It is in quarantine, and nobody knows that its last process is dead: on this worker.
    std::optional<std::string> may_still_run_on;
    std::optional<std::string> damaged = {};  // why it cannot be understood; the rest says nothing
};
struct JobPage {
    std::vector<JobLine> jobs;  // newest first
    std::optional<JobId> next;  // the cursor of the next page, if there is more
};

struct QueueLine {
    std::string queue;
    bool paused = false;
    std::array<std::uint64_t, places.size()> jobs{};  // by JobState; kept, never counted by a scan
    // Since when the oldest of its ready jobs is in line.
    std::optional<ServiceTime> oldest_ready = {};
    // Its ready jobs by their kind, so many kinds at most.
    std::map<std::string, std::uint64_t> ready_kinds = {};
    static constexpr std::size_t ready_kinds_max = 100;

    void add_ready(const std::string& kind, std::uint64_t count, ServiceTime oldest) {
        if (count == 0) return;
        oldest_ready = std::min(oldest_ready.value_or(oldest), oldest);
        if (ready_kinds.size() < ready_kinds_max || ready_kinds.contains(kind))
            ready_kinds[kind] += count;
    }
};
struct LimitLine {
    std::string name;
    std::uint32_t max = 1;
    std::uint32_t taken = 0;
};
struct WorkerLine {
    SessionId session;
    std::string worker;
    std::string machine;
    std::uint32_t slots = 0;
    std::uint32_t running = 0;
    Offer offer;
    bool suspect = false;  // gets no claims until its next heartbeat (O3)
    bool deaf = false;     // heard, but confirms no start: gets one claim at a time (O3)
    Duration silent_for;   // service time since its last heartbeat
    Duration lease_left;   // below zero: over for so long
    bool draining = false;
};
struct Overview {
    std::vector<QueueLine> queues;    // by name
    std::vector<LimitLine> limits;    // by name
    std::vector<WorkerLine> workers;  // open sessions that have not left, by name
    ServiceTick clock;
};

// So many rows at most are added up by one read.
inline constexpr std::uint32_t piece_rows_max = 5'000;

// Queues in order of their names. One with very many kinds and shares may come in several pieces:
// then its counts are to be added up.
struct QueuePlace {
    std::string queue;  // behind this one,
    std::string kind;   // or within it, behind these
    std::string share;
    std::int64_t submitter = 0;
    friend auto operator<=>(const QueuePlace&, const QueuePlace&) = default;
};
// Behind all that a queue of this name has.
inline QueuePlace behind_queue(std::string name) { return {std::move(name), "\x7f", ""}; }
struct QueuePiece {
    std::vector<QueueLine> queues;
    std::optional<QueuePlace> next;
};
// Limits in order of their names; what is taken of one may come in several pieces, too.
struct LimitPlace {
    std::string name;        // from this one on,
    std::uint32_t slot = 0;  // and of it, behind this slot
};
struct LimitPiece {
    std::vector<LimitLine> limits;
    std::optional<LimitPlace> next;
};
// How many attempts run in which sessions: to be added up over all pieces, then asked for workers.
using RunCounts = std::map<SessionId, std::uint32_t>;
struct RunPiece {
    RunCounts running;
    std::optional<JobId> next;
};
// Workers in order of their sessions' ids.
struct WorkerQuery {
    std::optional<std::string> tenant = "default";  // of those that serve it; empty: of all
    std::shared_ptr<const RunCounts> running;
    SessionId after = {};
};
struct WorkerPiece {
    std::vector<WorkerLine> workers;
    ServiceTick clock;
    std::optional<SessionId> next;
};

// So many entries of the ledger are looked at by one read: one that finds no more of those that are
// wanted says where to go on (C8).
inline constexpr std::uint32_t ledger_walk_max = 1'000;

struct RecoveryFilter {
    std::string tenant = "default";
    std::optional<JobId> job;
    std::optional<Cause> cause;
    std::optional<Detector> detector;
    std::optional<Incident> incident;
    std::optional<WallTime> since;
    std::optional<std::uint64_t> before;  // the cursor: only older entries
    std::uint32_t limit = 50;
};
// An entry of the ledger, and what came of it since.
struct RecoveryLine {
    Recovery entry;
    // The attempt that followed, if there is one yet; of what was brought back, the same one.
    std::optional<Epoch> epoch_after;
    std::string worker_after;
    std::optional<WallTime> acted_on;  // when that attempt was started, or else claimed
};
struct RecoveryPage {
    std::vector<RecoveryLine> recoveries;  // newest first
    // The cursor of the next page, if there is more, or may be: then this one may even be empty.
    std::optional<std::uint64_t> next;
    std::vector<Damaged> damaged = {};  // entries on the way that cannot be understood
};

class Catalogue {
public:
    virtual ~Catalogue() = default;
    // not_found; corrupt: its rows cannot be understood.
    virtual Task<Result<JobShown>> job(JobQuery query, ReadTerms terms = {}) = 0;
    virtual Task<Result<RecoveryPage>> recoveries(RecoveryFilter filter, ReadTerms terms = {}) = 0;
    virtual Task<Result<JobPage>> list(JobFilter filter, ReadTerms terms = {}) = 0;
    virtual Task<Result<QueuePiece>> queues(std::string tenant, QueuePlace after,
                                            ReadTerms terms = {}) = 0;
    virtual Task<Result<LimitPiece>> limits(std::string tenant, LimitPlace from,
                                            ReadTerms terms = {}) = 0;
    virtual Task<Result<RunPiece>> running(JobId after, ReadTerms terms = {}) = 0;
    virtual Task<Result<WorkerPiece>> workers(WorkerQuery query, ReadTerms terms = {}) = 0;
    // Those that exist and can be understood.
    virtual Task<Result<std::vector<OwnerView>>> owners(std::vector<SessionId> sessions,
                                                        ReadTerms terms = {}) = 0;
    // Who holds a key or limit, at most `max` of them.
    virtual Task<Result<std::vector<JobId>>> holders(Permit permit, std::uint32_t max,
                                                     ReadTerms terms = {}) = 0;
};

}  // namespace perdure
