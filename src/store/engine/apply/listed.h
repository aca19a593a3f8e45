// ListedAttempts: what a worker lists, found by attempt, and which of it its session does not own.
#pragma once

#include <algorithm>
#include <vector>

#include "core/ownership/reconcile.h"
#include "store/engine/state/state.h"

namespace perdure::store {

// If one is there twice, the first counts.
class ListedAttempts {
public:
    explicit ListedAttempts(const std::vector<Listed>& listed) {
        entries_.reserve(listed.size());
        for (const auto& entry : listed) entries_.push_back(&entry);
        std::stable_sort(entries_.begin(), entries_.end(), is_before);
        const auto same = [](const Listed* a, const Listed* b) { return a->attempt == b->attempt; };
        entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
    }

    const Listed* find(AttemptKey attempt) const {
        const Listed wanted{.attempt = attempt};
        const auto at = std::lower_bound(entries_.begin(), entries_.end(), &wanted, is_before);
        return at != entries_.end() && (*at)->attempt == attempt ? *at : nullptr;
    }
    // Those that the session does not own.
    std::vector<const Listed*> strangers(const State::Runs& owned) const {
        std::vector<AttemptKey> ours;
        ours.reserve(owned.size());
        for (const auto& [key, mark] : owned) ours.push_back({key.second, mark.run.epoch});
        std::sort(ours.begin(), ours.end());
        std::vector<const Listed*> rest;
        for (const auto* entry : entries_)
            if (!std::binary_search(ours.begin(), ours.end(), entry->attempt))
                rest.push_back(entry);
        return rest;
    }

private:
    static bool is_before(const Listed* a, const Listed* b) { return a->attempt < b->attempt; }

    std::vector<const Listed*> entries_;
};

}  // namespace perdure::store
