// Debts: what groups could not finish, because they would have touched too many rows (C8). Each is
// a row, written by the group that owes it; later groups pay in pieces. A copy of those rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "store/engine/state/group_rows.h"

namespace perdure::store {

class Debts {
public:
    Debts(const Contents& contents, Pending& pending);

    // Not all who wait for the job that has ended were told.
    void owe(JobId ended);
    void pay(JobId ended);
    bool owes(JobId ended) const { return ends_.contains(ended); }
    // The shapes blocked on a permit, but for those up to `behind`, are to be looked at.
    void owe(const Permit& permit, ShapeId behind);
    void pay(const Permit& permit);
    bool owes(const Permit& permit) const { return permits_.contains(permit); }

    // A job is removed, and rows of it are left.
    void owe_removal(JobId job);
    void pay_removal(JobId job);
    // Jobs that keep their permits are to be looked at, but for those up to `behind`: a queue was
    // paused. It has no row: after a restart all of them are looked at.
    void owe_kept(JobId behind) { kept_behind_ = behind; }
    void pay_kept() { kept_behind_.reset(); }
    const std::optional<JobId>& kept_behind() const { return kept_behind_; }

    bool empty() const { return size() == 0; }
    std::size_t size() const {
        return ends_.size() + permits_.size() + removals_.size() + (kept_behind_ ? 1 : 0);
    }

    struct OwedPermit {
        Permit permit;
        ShapeId behind = 0;
    };
    // In turn: each is given again after all others.
    std::optional<JobId> next_end();
    std::optional<OwedPermit> next_permit();
    std::optional<JobId> next_removal();

private:
    std::set<JobId> ends_;
    std::map<Permit, ShapeId> permits_;
    std::set<JobId> removals_;
    std::optional<JobId> kept_behind_;
    JobId last_end_;
    JobId last_removal_;
    Permit last_permit_;
    Pending& pending_;
};

}  // namespace perdure::store
