// Shapes: (tenant, queue, kind) as numbers, and how many jobs of each are in which state. A copy of
// the tables `shape`, `tally` and `queue`; counts are written once for each group, by save().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/job/job.h"
#include "core/ownership/claim.h"
#include "store/engine/damage_book.h"
#include "store/engine/state/group_rows.h"

namespace perdure::store {

class Shapes {
public:
    Shapes(const Contents& contents, Pending& pending, DamageBook& book);

    // No count is above it, and no number of a shape above the other: they are given one after
    // the other, and damage must not make a table of millions of them.
    static constexpr std::int64_t count_max = std::int64_t{1} << 40;
    static constexpr std::int64_t gap_max = 1'000;
    static ShapeId number_max(std::int64_t shapes) { return 2 * shapes + gap_max; }

    // Its number.
    ShapeId id_of(const Shape& shape);
    const Shape& shape(ShapeId id) const;

    void add(ShapeId id, JobState state, std::int64_t jobs);
    std::uint64_t count(ShapeId id, JobState state) const;
    std::uint64_t total(JobState state) const {
        // What is counted wrongly must not be taken for nothing.
        return totals_[static_cast<std::size_t>(state)] + (doubted_.empty() ? 0 : 1);
    }
    // Those with a job in `ready`, and those whose counts are in doubt.
    const std::set<ShapeId>& ready() const { return ready_; }

    bool is_paused(const std::string& tenant, const std::string& queue) const {
        return paused_.contains({tenant, queue});
    }
    // False: that is what it was.
    bool pause(const std::string& tenant, const std::string& queue, bool paused);

    void save();

private:
    struct Known {
        Shape shape;
        Counts counts{};
        bool changed = false;
        bool is_there = false;
    };
    void take_shapes(const std::vector<ShapeRow>& shapes);
    void take_tally(const TallyRow& tally);
    void compare_with_places(const Contents& contents);
    // Its counts are not what they should be: nothing rests on them any more.
    void doubt(ShapeId id, const char* why);
    Known& known(ShapeId id);
    const Known& known(ShapeId id) const { return const_cast<Shapes*>(this)->known(id); }

    std::map<Shape, ShapeId> ids_;
    std::vector<Known> known_;  // the shape with number n is at n - 1
    std::set<ShapeId> doubted_;
    Pending& pending_;
    DamageBook& book_;
    std::set<ShapeId> ready_;
    std::vector<ShapeId> changed_;
    std::array<std::uint64_t, places.size()> totals_{};
    std::set<std::pair<std::string, std::string>> paused_;
};

}  // namespace perdure::store
