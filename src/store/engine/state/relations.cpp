#include "store/engine/state/relations.h"

#include <utility>

namespace perdure::store {

Relations::Relations(const Contents& contents, WriteSet& pending) : pending_(pending) {
    for (const auto job : contents.awaited) waited_for_.insert(job.value);
    for (const auto parent : contents.added_to) added_to_.insert(parent.value);
}

void Relations::await(NewAwaited row) {
    if (!row.ended) waited_for_.insert(row.after.job.value);
    pending_.relations.emplace_back(std::in_place_type<NewAwaited>, std::move(row));
}

void Relations::tell(JobId other, const Input& ended) {
    waited_for_.erase(other.value);
    pending_.relations.emplace_back(ToldWaiters{other, ended});
}

void Relations::add(JobId parent, const AddedRow& row) {
    pending_.relations.emplace_back(NewAdded{parent, row});
    added_to_.insert(parent.value);
}

ForgottenJob Relations::forget(JobRow job) {
    const bool awaits = has_awaited(*job.spec);
    const bool added = added_to_.erase(job.id.value) > 0;
    const bool made = added || !job.spec->callbacks.empty();
    return {std::move(job), awaits, added, made};
}

}  // namespace perdure::store
