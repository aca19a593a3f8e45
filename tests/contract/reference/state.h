// State: all tables of the reference, and the moves between places that every change is made
// of. A move keeps the one invariant that spans jobs (C4):
//   C4a  While a thing is free, as many jobs of each shape as decide_promotion() says are `ready`
//        and want it, or none of that shape is blocked on it. So a free thing is always offered to
//        somebody, and whoever leaves lets the next ones follow.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/keeper.h"
#include "core/service_time.h"
#include "core/timing.h"
#include "tests/contract/reference/claiming/turns.h"
#include "tests/contract/reference/holders.h"
#include "tests/contract/reference/places.h"
#include "tests/contract/reference/rows.h"

namespace perdure::reference {

struct State {
    State(const Timing& t, QueueWeights w) : timing(t), weights(std::move(w)) {}

    Timing timing;
    QueueWeights weights;
    ServiceTick clock;
    KeeperRole keeper;
    std::map<ServerId, ServerRow> servers;
    std::uint64_t servers_used = 0;   // counts what servers did, to order them by it
    std::uint64_t id_high_water = 0;  // of servers whose rows are gone
    std::map<JobId, JobRow> jobs;
    std::map<SessionId, SessionRow> sessions;
    std::map<DirectoryPlace, SessionId> latest_sessions;
    // Who waits for whom to end: by the one that has not ended yet.
    std::map<JobId, std::set<JobId>> waiters;
    std::uint64_t made_id_high_water = 0;  // of the ids that the store itself has drawn
    std::map<std::pair<std::string, std::string>, IdempotencyRow> idempotency;  // tenant, key
    std::set<std::pair<std::string, std::string>> paused_queues;                // tenant, queue
    Places places;
    std::map<std::string, TenantTurns> turns;
    Holders holders;
    std::uint64_t repairs = 0;
    std::uint64_t fenced = 0;
    std::map<std::uint64_t, JobId> ledger;  // whose entry it is
    std::uint64_t last_recovery = 0;

    // Of the group that is being applied.
    WallTime wall;  // stays as the newest known wall time
    bool work_appeared = false;
    std::deque<JobId> ended;  // by the change that is being applied; see settle_ends()
    std::vector<Recovery> recoveries;

    JobRow* job(JobId id);
    SessionRow* session(SessionId id);
    const SessionRow& session_of(SessionId id) const { return sessions.at(id); }
    bool is_paused(const JobRow& job) const;
    bool holds_its_things(const JobRow& job) const;
};

// Moves a job. A job that leaves `ready` without its things lets the next ones have a look.
void move(State& state, JobRow& job, PlaceRow next);
// Moves a job, frees what it holds and promotes who waited for that.
void move_and_free(State& state, JobRow& job, PlaceRow next);
// Promotes until C4a is true again for this thing, and says whom.
std::vector<JobId> restore_line(State& state, const Thing& thing);
// Whether C4a is broken for this thing: only a bug of ours can do that.
bool is_overlooked(const State& state, const Thing& thing);

enum class Entry { at_the_end, first_in_line };
// A new stay in ready, beginning now. `avoid`: who should not get it for a while.
Stay begin_stay(const State& state, const JobRow& job, Entry entry,
                std::optional<SessionId> avoid = std::nullopt);

// Draws the next assignment number of a session (O6).
std::uint64_t draw_assignment(SessionRow& session);

}  // namespace perdure::reference
