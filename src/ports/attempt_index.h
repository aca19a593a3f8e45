// AttemptIndex: finds what is kept for an attempt. It cannot be walked, so that nothing can depend
// on the order of a hash.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/job/job.h"

namespace perdure {

// All attempts of one job lie together.
struct HashOfJob {
    std::size_t operator()(const AttemptKey& key) const noexcept { return key.job.value; }
};

template <class Value>
class AttemptIndex {
public:
    bool contains(AttemptKey key) const { return values_.contains(key); }
    // Empty if there is none.
    const Value* find(AttemptKey key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? nullptr : &found->second;
    }
    // False: there is one already, and it stays.
    bool add(AttemptKey key, Value value) { return values_.emplace(key, std::move(value)).second; }
    void erase(AttemptKey key) { values_.erase(key); }

    // The newest other epoch of the same job.
    std::optional<Epoch> other_epoch(AttemptKey key) const {
        std::optional<Epoch> newest;
        const auto bucket = values_.bucket(key);
        for (auto at = values_.begin(bucket); at != values_.end(bucket); ++at) {
            const auto& other = at->first;
            if (other.job != key.job || other.epoch == key.epoch) continue;
            newest = std::max(newest.value_or(other.epoch), other.epoch);
        }
        return newest;
    }

private:
    std::unordered_map<AttemptKey, Value, HashOfJob> values_;
};

}  // namespace perdure
