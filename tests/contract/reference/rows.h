// The reference: what a store must answer, written a second time and as naively as possible. It
// shares the decisions of `core` with the engine, and nothing else. Everything lies in plain maps,
// every question is a look at all of it, nothing is counted or sorted ahead.
// To be read in this order; each file adds a subject to the one before:
//   rows.h       what is kept
//   places.h     where a job is, who holds what, and who follows (C3, C4, E6)
//   relations.h  callbacks and `after` (K1 to K3)
//   attempts.h   starts, progress, and how attempts end (O1, O4, O10, E3, E4)
//   claims.h     who gets what next (O3, C4, E7)
//   sessions.h   what a worker has, and what it should have (O2, O5, O6)
//   jobs.h       submitting, a person's acts, waiting (C5, E1, E2, E5)
//   reference.h  groups, and what a store shows
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "ports/store.h"

namespace perdure::reference {

// A row is the view that everybody sees, and what nobody sees of it.
struct Attempt : AttemptView {
    std::vector<SessionId> owners;  // the last of them is `session`
    bool clean = false;
    std::optional<std::string> checkpoint;
    std::uint64_t progress = 0;  // the newest begin or checkpoint that counted
    // While it is in `run`:
    std::optional<Cause> kill_cause;
    bool recalled = false;
    ServiceTime confirm_deadline;
};

// What is in `run`, or presumed lost, is its newest attempt. The views of its attempts and of its
// run are made of `history` when somebody looks.
struct Job : JobView {
    BodyHash body_hash;
    std::vector<Attempt> history;
    std::vector<JobId> asked;  // the ids under which `added` was asked for
    ServiceTime since;         // of its stay in `ready` and `blocked`
    bool is_first = false;     // in line, during that stay
    std::optional<SessionId> avoid;
    ServiceTime avoid_until;

    Shape shape() const { return shape_of(*spec); }
    std::vector<Permit> permits() const { return permits_of(*spec); }
    QueuePosition order() const { return {spec->priority, !is_first, since, id}; }
    bool is_in_run() const { return place_of(state).place == Place::run; }
    bool is_in_run(const Attempt& a) const { return is_in_run() && a.epoch == epoch; }
    bool was_lost(const Attempt& a) const { return presumed_lost && a.epoch == epoch; }
    bool is_held() const { return state == JobState::blocked && !blocked_on; }
    // It is offered its permits, if it needs some, and has yet to take them.
    bool wants() const { return state == JobState::ready && !kept_until && spec->needs_holders(); }
};

struct Session : SessionView {
    std::uint32_t given_up = 0;  // attempts presumed lost since its last renewal (E4)
};

struct Key {
    JobId job;
    BodyHash body_hash;
    std::optional<JobState> gone = {};  // how its job had ended, which was removed
    ServiceTime until = {};             // then
};

// E7: what a line, a queue or a share, knows of its turn; and what lies side by side.
struct Line {
    std::int64_t tag = 0;
    std::uint64_t served = 0;
    std::int64_t claims = 0;
};
struct Lines {
    std::map<std::string, Line> of;
    std::int64_t turn = 0;
    std::uint64_t served = 0;
};

using Name = std::pair<std::string, std::string>;  // a tenant, and a name in it

struct Rows {
    Timing timing;
    QueueWeights weights;

    WallTime wall;
    ServiceTick clock;
    KeeperRole keeper;
    std::uint64_t given_ids = 0;  // the highest that a server has named
    std::uint64_t made_ids = 0;   // the highest that was drawn here
    std::map<JobId, Job> jobs;
    std::map<SessionId, Session> sessions;
    std::map<Name, Key> keys;
    std::set<Name> paused;  // queues
    std::map<Permit, std::uint32_t> limits;
    std::map<std::pair<Permit, std::uint32_t>, JobId> holders;  // by permit and slot
    std::vector<Recovery> ledger;
    std::uint64_t last_recovery = 0;
    std::uint64_t fenced = 0;
    std::map<std::string, Lines> queues;  // of a tenant
    std::map<Name, Lines> shares;         // of a queue

    // Of the group that is being applied.
    bool work_appeared = false;
    std::vector<Recovery> entered;  // into the ledger
    std::deque<JobId> ended;        // and not settled yet

    ServiceTime now() const { return clock.now; }

    // In order of their assignment numbers.
    std::vector<JobId> runs_of(SessionId session) const {
        std::map<std::uint64_t, JobId> runs;
        for (const auto& [id, job] : jobs)
            if (job.is_in_run() && job.history.back().session == session)
                runs[job.history.back().assignment] = id;
        std::vector<JobId> ids;
        for (const auto& [assignment, id] : runs) ids.push_back(id);
        return ids;
    }
};

// Empty if it is not there.
template <class Map>
auto* find_in(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}
template <class Values, class Value>
bool contains(const Values& values, const Value& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

// Refusals are compared by their codes: what they tell people is the engine's affair.
inline Error refuse(Errc code) { return error(code, ""); }

}  // namespace perdure::reference
