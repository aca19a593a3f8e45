// ClaimSize: how many jobs one claim takes. What a line costs a group, its counts and the pages it
// is stored in, it costs once however many of its jobs go. So a claim from many lines takes more,
// up to a few of each; from a few lines it takes a thousand, and others have their turn sooner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include "store/engine/rows/rows.h"

namespace perdure::store {

class ClaimSize {
public:
    static constexpr std::size_t jobs_max = 1'000;
    static constexpr std::size_t jobs_of_line_max = 4;

    void note_taken(ShapeId line) {
        ++jobs_;
        if (line == last_line_) return;
        last_line_ = line;
        lines_.insert(line);
    }
    bool is_reached() const {
        return jobs_ >= std::max(jobs_max, jobs_of_line_max * lines_.size());
    }

private:
    std::size_t jobs_ = 0;
    std::unordered_set<ShapeId> lines_;
    ShapeId last_line_ = 0;
};

}  // namespace perdure::store
