// What a sweep must look at besides attempts: jobs whose time has come, and things that are freer
// than they are offered (E5, C4).
#include <algorithm>
#include <set>

#include "store/sql/show/show.h"

namespace perdure::store::sql {
namespace {

// Comparing every thing that is waited for would take long where there are many: each sweep goes on
// where the last one stopped. Finding one is finding a bug of ours, which is not urgent.
constexpr int things_max = 1'000;
// Some stand for no job any more: ticks remove them.
constexpr int parts_max = 50'000;

}  // namespace

void Show::add_ready_wakes(ServiceTime now, std::uint32_t limit, std::vector<Wake>& wakes) {
    auto part = ready_wakes_.query({now, parts_max});
    std::size_t found = 0;
    std::optional<ServiceTime> last;
    while (part.next()) {
        const ServiceTime at{part.number(0)};
        // Parts of one instant are taken together, so that they can be put in order.
        if (found >= limit && last != at) return;
        last = at;
        auto row = ready_at_.query({part.number(1), part.number(2), part.number(3), at, limit});
        while (row.next()) {
            wakes.emplace_back(at, JobId{row.bits(0)});
            ++found;
        }
    }
}

std::vector<Show::Wake> Show::wakes(ServiceTime now, std::uint32_t limit) {
    std::vector<Wake> wakes;
    for (auto* statement : {&timer_wakes_, &blocked_wakes_, &wait_wakes_, &run_wakes_}) {
        auto row = statement->query({now, limit});
        while (row.next()) wakes.emplace_back(ServiceTime{row.number(0)}, JobId{row.bits(1)});
    }
    add_ready_wakes(now, limit, wakes);
    std::sort(wakes.begin(), wakes.end());
    if (wakes.size() > limit) wakes.resize(limit);
    return wakes;
}

void Show::add_waiting(WallTime wall, std::uint32_t limit, OverdueView& view) {
    for (const auto& [at, id] : wakes(view.clock.now, limit)) view.waiting.push_back(id);
    const std::set<JobId> listed(view.waiting.begin(), view.waiting.end());
    auto row = dates_.query({wall, std::int64_t{limit} + limit});
    while (view.waiting.size() < limit && row.next()) {
        const JobId id{row.bits(1)};
        if (!listed.contains(id)) view.waiting.push_back(id);
    }
}

std::optional<Thing> Show::thing_after(const std::optional<Thing>& last) {
    const Thing from = last.value_or(Thing{});
    const auto kind = last ? static_cast<int>(from.kind) : -1;
    auto row = next_thing_.query({from.tenant, kind, from.name});
    if (!row.next()) return std::nullopt;
    return Thing{row.number(1) == 0 ? Thing::Kind::key : Thing::Kind::limit, row.text(0),
                 row.text(2)};
}

std::uint32_t Show::free_of(const Thing& thing) {
    std::int64_t max = 1;
    const bool is_key = thing.kind == Thing::Kind::key;
    if (!is_key) {
        auto row = limit_max_.query({thing.tenant, thing.name});
        // One that is not defined any more is full (C9).
        max = row.next() ? row.number(0) : 0;
        if (max > INT32_MAX) max = 0;
    }
    auto held = (is_key ? keys_held_ : limits_held_).query({thing.tenant, thing.name});
    const auto taken = held.next() ? held.number(0) : 0;
    return static_cast<std::uint32_t>(max - std::min(max, taken));
}

bool Show::is_overlooked(const Thing& thing) {
    const auto free = free_of(thing);
    const auto kind = static_cast<int>(thing.kind);
    for (ShapeId last = 0; free > 0;) {
        auto shape = blocked_shapes_.query({thing.tenant, kind, thing.name, last});
        if (!shape.next() || shape.is_null(0)) return false;
        last = shape.number(0);
        const auto enough = std::min(free, promotion_window);
        auto row = wanting_.query({thing.tenant, kind, thing.name, last, enough});
        const auto wanting = row.next() ? static_cast<std::uint32_t>(row.number(0)) : 0;
        if (decide_promotion({.free = free, .wanting = wanting}).promote > 0) return true;
    }
    return false;
}

void Show::add_free_things(std::uint32_t limit, OverdueView& view) {
    for (int looked = 0; looked < things_max && view.free_things.size() < limit; ++looked) {
        looked_at_ = thing_after(looked_at_);
        if (!looked_at_) return;
        if (is_overlooked(*looked_at_)) view.free_things.push_back(*looked_at_);
    }
}

OverdueView Show::overdue(WallTime wall, std::uint32_t limit) {
    Transaction snapshot(database_, Transaction::Kind::read);
    OverdueView view{.clock = load_.service().clock};
    add_waiting(wall, limit, view);
    add_free_things(limit, view);
    return view;
}

}  // namespace perdure::store::sql
