#include "store/engine/state/debts.h"

#include "base/zoo.h"

namespace perdure::store {

Debts::Debts(const Contents& contents, Pending& pending) : pending_(pending) {
    ends_.insert(contents.owed_ends.begin(), contents.owed_ends.end());
    removals_.insert(contents.owed_removals.begin(), contents.owed_removals.end());
    // A position that makes no sense is none: then some are looked at twice.
    for (const auto& [permit, behind] : contents.owed_permits)
        permits_.emplace(permit, behind < 0 || behind > contents.shape_max() ? 0 : behind);
}

void Debts::owe(JobId ended) {
    if (zoo(Bug::debt_forgotten)) return;
    if (ends_.insert(ended).second) pending_.change().owed_ends.insert_or_assign(ended, true);
}

void Debts::pay(JobId ended) {
    if (ends_.erase(ended) > 0) pending_.change().owed_ends.insert_or_assign(ended, false);
}

void Debts::owe(const Permit& permit, ShapeId behind) {
    if (zoo(Bug::debt_forgotten)) return;
    permits_.insert_or_assign(permit, behind);
    pending_.change().owed_permits.insert_or_assign(permit, behind);
}

void Debts::pay(const Permit& permit) {
    if (permits_.erase(permit) > 0)
        pending_.change().owed_permits.insert_or_assign(permit, std::nullopt);
}

void Debts::owe_removal(JobId job) {
    if (removals_.insert(job).second) pending_.change().owed_removals.insert_or_assign(job, true);
}

void Debts::pay_removal(JobId job) {
    if (removals_.erase(job) > 0) pending_.change().owed_removals.insert_or_assign(job, false);
}

namespace {

std::optional<JobId> next_of(const std::set<JobId>& jobs, JobId& last) {
    if (jobs.empty()) return std::nullopt;
    auto at = jobs.upper_bound(last);
    if (at == jobs.end()) at = jobs.begin();
    last = *at;
    return last;
}

}  // namespace

std::optional<JobId> Debts::next_end() { return next_of(ends_, last_end_); }

std::optional<JobId> Debts::next_removal() { return next_of(removals_, last_removal_); }

std::optional<Debts::OwedPermit> Debts::next_permit() {
    if (permits_.empty()) return std::nullopt;
    auto at = permits_.upper_bound(last_permit_);
    if (at == permits_.end()) at = permits_.begin();
    last_permit_ = at->first;
    return OwedPermit{at->first, at->second};
}

}  // namespace perdure::store
