// Places: every index over where jobs are. Rows are removed before a job's place changes and
// inserted after it; each step asserts that exactly one row was touched (C3).
// Ended jobs are in one index only, by the end of their retention.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "store/engine/rows/rows.h"

namespace perdure::store::memory {

class Places {
public:
    using Line = std::set<QueuePosition>;
    using Deadlines = std::set<std::pair<ServiceTime, JobId>>;
    using Dates = std::set<std::pair<WallTime, JobId>>;
    using Runs = std::set<std::pair<std::uint64_t, JobId>>;  // by assignment number

    void insert(const JobRow& job);
    void remove(const JobRow& job);

    std::size_t count(Place place) const { return counts_[static_cast<std::size_t>(place)]; }
    std::size_t total() const;

    const std::map<ShapeId, Line>& ready() const { return ready_; }
    // Jobs in `ready` that still hold their permits.
    const std::set<JobId>& kept() const { return kept_; }
    const std::map<Permit, std::map<ShapeId, Line>>& blocked() const { return blocked_; }
    std::vector<ShapeId> shapes_blocked_on(const Permit& permit) const;
    const Line& blocked_on(const Permit& permit, ShapeId shape) const;
    // How many jobs of this shape are `ready` and have yet to take the permit.
    std::size_t wanting(const Permit& permit, ShapeId shape) const;

    const Deadlines& wakes() const { return wakes_; }
    const Dates& dates() const { return dates_; }
    const Deadlines& confirmations() const { return confirmations_; }
    const Deadlines& retentions() const { return retentions_; }
    const std::map<SessionId, Runs>& runs() const { return runs_; }
    const Runs& runs_of(SessionId session) const;

private:
    template <class Change>
    void change(const JobRow& job);
    template <class Change>
    void change_wanting(const Permit& permit, ShapeId shape);

    std::array<std::size_t, 6> counts_{};
    std::map<ShapeId, Line> ready_;
    std::set<JobId> kept_;
    std::map<Permit, std::map<ShapeId, Line>> blocked_;
    std::map<Permit, std::map<ShapeId, std::size_t>> wanting_;
    Deadlines wakes_;
    Dates dates_;
    Deadlines confirmations_;
    Deadlines retentions_;
    std::map<SessionId, Runs> runs_;
};

}  // namespace perdure::store::memory
