// RequestLanes: what waits to be committed, and which of it shares the next group.
//   C2  Heartbeats go first; every lane keeps a tenth of a group, and a request that is larger than
//       what was left is carried by the next group all the same: no lane starves.
//   C8  A lane that is full takes no more: the caller is refused at once.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "ports/changes.h"
#include "ports/task.h"

namespace perdure {

// In the order in which they are given room in a group; claims are carried out last.
enum class Lane { tick, heartbeats, reports, claims, submits };
inline constexpr std::size_t lane_count = 5;

// Changes that are committed together and in order, and who waits for their replies.
struct CommitRequest {
    Lane lane = Lane::submits;
    std::vector<Change> changes;
    std::vector<ChangeReply>* into = nullptr;
    std::optional<Suspended> waiter = {};
    BootTime deadline = {};
    std::optional<SessionId> worker = {};  // whose report it is, if it is one
    bool committed = false;                // and asked again only because the reply was lost
    bool passed_over = false;              // by a group that had no room for it
};
using CommitBatch = std::vector<std::unique_ptr<CommitRequest>>;

// How many rows a change writes, as far as that is known before.
std::size_t rows_of(const Change& change);

class RequestLanes {
public:
    // `group_max`: rows of a group. `lane_max`: rows that may wait in a lane.
    RequestLanes(std::size_t group_max, std::size_t lane_max)
        : group_max_(group_max), lane_max_(lane_max) {}

    bool is_full(Lane lane) const;
    void push(std::unique_ptr<CommitRequest> request);
    // The report of the same worker that still waits, if this one says all that it says: it is
    // out of its lane, and need not be carried out.
    std::unique_ptr<CommitRequest> take_repeated(const CommitRequest& by);
    // To the front of their lanes, in this order.
    void put_back(CommitBatch batch);

    bool empty() const;
    // Whether what waits is about so many jobs.
    bool has_jobs(std::size_t enough) const;
    // The next group: out of the lanes, in the order in which it is carried out.
    CommitBatch form();
    CommitBatch take_expired(BootTime now);

private:
    struct Waiting {
        std::deque<std::unique_ptr<CommitRequest>> requests;
        std::size_t rows = 0;
    };

    Waiting& of(Lane lane) { return lanes_[static_cast<std::size_t>(lane)]; }
    const Waiting& of(Lane lane) const { return lanes_[static_cast<std::size_t>(lane)]; }
    std::size_t reserved_behind(std::size_t lane) const;
    std::unique_ptr<CommitRequest> take_front(Waiting& lane);
    void forget_worker(const CommitRequest& request);

    const std::size_t group_max_;
    const std::size_t lane_max_;
    std::array<Waiting, lane_count> lanes_;
    std::map<SessionId, CommitRequest*> reports_;  // the newest of each worker that waits
};

}  // namespace perdure
