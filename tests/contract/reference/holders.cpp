#include "tests/contract/reference/holders.h"

#include <algorithm>

#include "base/assert.h"

namespace perdure::reference {

std::uint32_t Holders::max(const Thing& thing) const {
    if (thing.kind == Thing::Kind::key) return 1;
    const auto found = limits_.find(thing);
    PERDURE_ASSERT(found != limits_.end());  // submit refuses what is not defined
    return found->second;
}

std::uint32_t Holders::taken(const Thing& thing) const {
    const auto found = rows_.find(thing);
    return found == rows_.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

std::uint32_t Holders::free(const Thing& thing) const {
    const auto most = max(thing);
    // A limit may have been lowered below what is taken.
    return most - std::min(most, taken(thing));
}

bool Holders::is_held_by(const Thing& thing, JobId job) const {
    const auto found = rows_.find(thing);
    if (found == rows_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const auto& row) { return row.second == job; });
}

void Holders::take(const Thing& thing, JobId job) {
    auto& slots = rows_[thing];
    std::uint32_t slot = 1;
    while (slots.contains(slot)) ++slot;
    PERDURE_ASSERT(slot <= max(thing));
    slots.emplace(slot, job);
}

bool Holders::release(const Thing& thing, JobId job) {
    const auto found = rows_.find(thing);
    if (found == rows_.end()) return false;
    const auto erased =
        std::erase_if(found->second, [&](const auto& r) { return r.second == job; });
    if (found->second.empty()) rows_.erase(found);
    return erased > 0;
}

}  // namespace perdure::reference
