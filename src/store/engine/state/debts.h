// Debts: what groups could not finish, because they would have touched too many rows (C8). Each is
// a row, written by the group that owes it; later groups pay in pieces. A copy of those rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "store/engine/tables.h"

namespace perdure::store {

class Debts {
public:
    Debts(const Contents& contents, WriteSet& pending);

    // Not all who wait for the job that has ended were told.
    void owe(JobId ended);
    void pay(JobId ended);
    bool owes(JobId ended) const { return ends_.contains(ended); }
    // The shapes blocked on a thing, but for those up to `behind`, are to be looked at.
    void owe(const Thing& thing, ShapeId behind);
    void pay(const Thing& thing);
    bool owes(const Thing& thing) const { return things_.contains(thing); }

    bool empty() const { return ends_.empty() && things_.empty(); }
    std::size_t size() const { return ends_.size() + things_.size(); }

    struct OwedThing {
        Thing thing;
        ShapeId behind = 0;
    };
    // In turn: each is given again after all others.
    std::optional<JobId> next_end();
    std::optional<OwedThing> next_thing();

private:
    std::set<JobId> ends_;
    std::map<Thing, ShapeId> things_;
    JobId last_end_;
    Thing last_thing_;
    WriteSet& pending_;
};

}  // namespace perdure::store
