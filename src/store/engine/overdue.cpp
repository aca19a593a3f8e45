#include "store/engine/overdue.h"

#include <algorithm>
#include <set>

#include "core/ownership/claim.h"

namespace perdure::store {
namespace {

// Comparing all that is waited for would take long where there is much: each view goes on where the
// last one stopped (C8). Finding something is finding a bug of ours, which is not urgent.
constexpr int looks_max = 1'000;

void add_waiting(OverdueReader& reader, WallTime wall, std::uint32_t limit, OverdueView& view) {
    for (const auto& [at, id] : reader.wakes(view.clock.now, limit)) view.waiting.push_back(id);
    const std::set<JobId> listed(view.waiting.begin(), view.waiting.end());
    for (const auto id : reader.dates(wall, 2 * limit)) {
        if (view.waiting.size() >= limit) return;
        if (!listed.contains(id)) view.waiting.push_back(id);
    }
}

}  // namespace

bool OverdueViews::is_overlooked(OverdueReader& reader, const Permit& permit) {
    const auto free = reader.free_of(permit);
    const auto enough = std::min(free, promotion_window);
    for (goes_on_ = free > 0; goes_on_ && looks_left_ > 0; --looks_left_) {
        const auto shape = reader.blocked_shape(permit, behind_);
        goes_on_ = shape.has_value();
        if (!shape) return false;
        behind_ = *shape;
        const auto wanting = reader.wanting(permit, *shape, enough);
        if (decide_promotion({.free = free, .wanting = wanting}).promote == 0) continue;
        goes_on_ = false;
        return true;
    }
    return false;
}

void OverdueViews::add_free_permits(OverdueReader& reader, std::uint32_t limit, OverdueView& view) {
    for (looks_left_ = looks_max; looks_left_ > 0 && view.free_permits.size() < limit;) {
        --looks_left_;
        if (!goes_on_) {
            at_ = reader.blocked_permit(at_);
            behind_ = 0;
        }
        if (!at_) return;
        if (is_overlooked(reader, *at_)) view.free_permits.push_back(*at_);
    }
}

OverdueView OverdueViews::show(OverdueReader& reader, const ServiceTick& clock, WallTime wall,
                               std::uint32_t limit) {
    OverdueView view{.clock = clock};
    add_waiting(reader, wall, limit, view);
    add_free_permits(reader, limit, view);
    return view;
}

}  // namespace perdure::store
