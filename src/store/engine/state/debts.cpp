#include "store/engine/state/debts.h"

#include "base/zoo.h"

namespace perdure::store {

Debts::Debts(const Contents& contents, WriteSet& pending) : pending_(pending) {
    ends_.insert(contents.owed_ends.begin(), contents.owed_ends.end());
    // A position that makes no sense is none: then some are looked at twice.
    for (const auto& [thing, behind] : contents.owed_things)
        things_.emplace(thing, behind < 0 || behind > contents.shape_max() ? 0 : behind);
}

void Debts::owe(JobId ended) {
    if (zoo(Bug::debt_forgotten)) return;
    if (ends_.insert(ended).second) pending_.owed_ends.insert_or_assign(ended, true);
}

void Debts::pay(JobId ended) {
    if (ends_.erase(ended) > 0) pending_.owed_ends.insert_or_assign(ended, false);
}

void Debts::owe(const Thing& thing, ShapeId behind) {
    if (zoo(Bug::debt_forgotten)) return;
    things_.insert_or_assign(thing, behind);
    pending_.owed_things.insert_or_assign(thing, behind);
}

void Debts::pay(const Thing& thing) {
    if (things_.erase(thing) > 0) pending_.owed_things.insert_or_assign(thing, std::nullopt);
}

std::optional<JobId> Debts::next_end() {
    if (ends_.empty()) return std::nullopt;
    auto at = ends_.upper_bound(last_end_);
    if (at == ends_.end()) at = ends_.begin();
    last_end_ = *at;
    return last_end_;
}

std::optional<Debts::OwedThing> Debts::next_thing() {
    if (things_.empty()) return std::nullopt;
    auto at = things_.upper_bound(last_thing_);
    if (at == things_.end()) at = things_.begin();
    last_thing_ = at->first;
    return OwedThing{at->first, at->second};
}

}  // namespace perdure::store
