#include "store/engine/state/debts.h"

#include "base/zoo.h"

namespace perdure::store {

Debts::Debts(const Contents& contents, Pending& pending) : pending_(pending) {
    ends_.insert(contents.owed_ends.begin(), contents.owed_ends.end());
    removals_.insert(contents.owed_removals.begin(), contents.owed_removals.end());
    // A position that makes no sense is none: then some are looked at twice.
    for (const auto& [thing, behind] : contents.owed_things)
        things_.emplace(thing, behind < 0 || behind > contents.shape_max() ? 0 : behind);
}

void Debts::owe(JobId ended) {
    if (zoo(Bug::debt_forgotten)) return;
    if (ends_.insert(ended).second) pending_.change().owed_ends.insert_or_assign(ended, true);
}

void Debts::pay(JobId ended) {
    if (ends_.erase(ended) > 0) pending_.change().owed_ends.insert_or_assign(ended, false);
}

void Debts::owe(const Thing& thing, ShapeId behind) {
    if (zoo(Bug::debt_forgotten)) return;
    things_.insert_or_assign(thing, behind);
    pending_.change().owed_things.insert_or_assign(thing, behind);
}

void Debts::pay(const Thing& thing) {
    if (things_.erase(thing) > 0)
        pending_.change().owed_things.insert_or_assign(thing, std::nullopt);
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

std::optional<Debts::OwedThing> Debts::next_thing() {
    if (things_.empty()) return std::nullopt;
    auto at = things_.upper_bound(last_thing_);
    if (at == things_.end()) at = things_.begin();
    last_thing_ = at->first;
    return OwedThing{at->first, at->second};
}

}  // namespace perdure::store
