// The attempts that this worker has, from the assignment (or from disk) until the server has
// acknowledged the end. Nothing else leaves the table, so that every heartbeat lists all (O6).
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/isolation.h"
#include "core/ownership/reconcile.h"
#include "core/policy/cause.h"
#include "ports/attempt_index.h"
#include "ports/process.h"

namespace perdure {

// A begin or checkpoint that waits for its commit (O10).
struct PendingProgress {
    std::uint64_t serial = 0;
    ProcessEvent::Kind kind = ProcessEvent::Kind::begin;
    std::string checkpoint;
    std::uint64_t number = 0;  // the shim's; the server takes only newer ones
    BootTime give_up_at;
};

struct Attempt {
    // preparing: its shim is being made. prepared: its shim waits. ordered: it was told to start.
    enum class Phase { preparing, prepared, ordered, running, ended };

    Phase phase = Phase::preparing;  // first: it is what those look at who look at all
    std::uint64_t assignment = 0;
    Terms terms;
    bool adopted = false;              // it ran before this life of the worker began
    bool has_directory = true;         // there may be one: forget it at the end
    std::optional<BootTime> go_until;  // of the last start order of an attempt that asks
    // A renewal counts for an attempt only if its answer has shown that the attempt is still in
    // `run` (O7): what was given up meanwhile must not be kept alive by it.
    std::optional<BootTime> lease_until;
    std::optional<Cause> killed_as;         // the first kill
    bool cut_off = false;                   // killed for its lease or a stale epoch
    bool start_is_known = false;            // to the server, for good
    std::optional<Listed::Phase> found_as;  // its shim was dead when the worker came
    AttemptEnd end;                         // if ended
    EvidenceRef evidence;
    BootTime ended_at;                      // when we learnt it
    bool has_new_output = false;            // not yet at a server
    bool output_is_lost = false;            // what follows is not sent; it is counted at the end
    std::uint64_t output_hints = 0;         // how often its shim has said that it printed
    std::uint64_t output_sent = 0;          // bytes that a server has
    std::uint64_t output_turn = 0;          // when a piece of it was last sent, as a count
    BootTime output_taken_at;               // when a server last took a piece
    std::uint64_t output_undelivered = 0;   // bytes that no server will have
    BootTime output_not_before;             // it was to be sent again, but not at once
    std::vector<PendingProgress> progress;  // the oldest first
    std::optional<ProgressNote> note;       // how far it says it is

    bool is_started() const { return phase == Phase::running || phase == Phase::ended; }
    void raise_lease(BootTime until) { lease_until = std::max(lease_until.value_or(until), until); }
    bool may_run() const { return phase == Phase::ordered || phase == Phase::running; }
};

class AttemptTable {
public:
    // In the order in which they came, so that none waits for those that came later.
    using List = std::list<std::pair<const AttemptKey, Attempt>>;

    // Empty if it is not here. Valid until it is erased.
    Attempt* find(AttemptKey key);
    Attempt& add(AttemptKey key, Attempt attempt);
    void erase(AttemptKey key);
    bool contains(AttemptKey key) const { return places_.contains(key); }
    bool empty() const { return attempts_.empty(); }
    std::size_t size() const { return attempts_.size(); }
    const List& all() const { return attempts_; }
    // A snapshot, to loop over while entries change.
    std::vector<AttemptKey> keys() const;
    // The newest other epoch of the same job.
    std::optional<Epoch> other_epoch(AttemptKey key) const { return places_.other_epoch(key); }

    std::vector<Listed> for_heartbeat() const;
    std::vector<ProgressNote> notes() const;
    // As a new session's opening message lists them: what was found dead, in its state on disk.
    std::vector<Listed> for_opening() const;

private:
    List attempts_;
    AttemptIndex<List::iterator> places_;
};

// The assignment numbers of one session (O6).
class AssignmentNumbers {
public:
    void see(std::uint64_t number) { seen_ = std::max(seen_, number); }
    void handle(std::uint64_t number);
    bool is_handled(std::uint64_t number) const {
        return std::binary_search(handled_.begin(), handled_.end(), number);
    }
    std::uint64_t named() const { return named_; }
    // The number that a heartbeat names. From now on, what is unlisted up to it is discarded.
    std::uint64_t name();

private:
    std::uint64_t seen_ = 0;
    std::uint64_t named_ = 0;
    std::vector<std::uint64_t> handled_;  // above named_, in order: they hardly come otherwise
};

}  // namespace perdure
