#include "store/engine/state/slots.h"

#include <iterator>

namespace perdure::store {

std::optional<Slots::Number> Slots::held_by(JobId job) const {
    const auto found = by_job_.lower_bound({job, 0});
    if (found == by_job_.end() || found->first != job) return std::nullopt;
    return found->second;
}

void Slots::take(Number slot, JobId job) {
    if (!jobs_.emplace(slot, job).second) return;
    by_job_.emplace(job, slot);
    if (slot >= odd_min) return;
    const auto range = std::prev(free_.upper_bound(slot));
    const auto [from, to] = *range;
    free_.erase(range);
    if (from < slot) free_.emplace(from, slot);
    if (slot + 1 < to) free_.emplace(slot + 1, to);
}

void Slots::release(Number slot) {
    const auto held = jobs_.find(slot);
    by_job_.erase({held->second, slot});
    jobs_.erase(held);
    if (slot >= odd_min) return;
    auto from = slot;
    auto to = slot + 1;
    const auto next = free_.upper_bound(slot);
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->second == slot) {
            from = before->first;
            free_.erase(before);
        }
    }
    if (next != free_.end() && next->first == to) {
        to = next->second;
        free_.erase(next);
    }
    free_.emplace(from, to);
}

}  // namespace perdure::store
