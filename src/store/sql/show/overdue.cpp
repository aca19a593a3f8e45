// What SQLite's tables show of what is overdue (store/engine/overdue.h).
#include <algorithm>

#include "store/sql/show/show.h"

namespace perdure::store::sql {
namespace {

// In `ready`, jobs that have come together share an instant; some of these stand for nobody any
// more.
constexpr int ready_wakes_max = 5'000;
// Of a thing that so many hold the next end offers what is free.
constexpr std::int64_t holders_counted_max = 5'000;

}  // namespace

void Show::add_ready_wakes(ServiceTime now, std::uint32_t max, std::vector<Wake>& wakes) {
    auto part = ready_wakes_.query({now, ready_wakes_max});
    std::size_t found = 0;
    std::optional<ServiceTime> last;
    while (part.next()) {
        const ServiceTime at{part.number(0)};
        // Parts of one instant are taken together, so that they can be put in order.
        if (found >= max && last != at) return;
        last = at;
        auto row = ready_at_.query({part.number(1), part.number(2), part.number(3), at, max});
        while (row.next()) {
            wakes.emplace_back(at, JobId{row.bits(0)});
            ++found;
        }
    }
}

std::vector<OverdueReader::Wake> Show::wakes(ServiceTime now, std::uint32_t max) {
    std::vector<Wake> wakes;
    for (auto* statement : {&timer_wakes_, &blocked_wakes_, &wait_wakes_, &run_wakes_}) {
        auto row = statement->query({now, max});
        while (row.next()) wakes.emplace_back(ServiceTime{row.number(0)}, JobId{row.bits(1)});
    }
    add_ready_wakes(now, max, wakes);
    std::sort(wakes.begin(), wakes.end());
    if (wakes.size() > max) wakes.resize(max);
    return wakes;
}

std::vector<JobId> Show::dates(WallTime wall, std::uint32_t max) {
    std::vector<JobId> jobs;
    auto row = dates_.query({wall, max});
    while (row.next()) jobs.emplace_back(row.bits(1));
    return jobs;
}

std::optional<Thing> Show::blocked_thing(const std::optional<Thing>& behind) {
    const Thing from = behind.value_or(Thing{});
    const auto kind = behind ? static_cast<int>(from.kind) : -1;
    auto row = next_thing_.query({from.tenant, kind, from.name});
    if (!row.next()) return std::nullopt;
    return Thing{row.number(1) == 0 ? Thing::Kind::key : Thing::Kind::limit, row.text(0),
                 row.text(2)};
}

std::optional<ShapeId> Show::blocked_shape(const Thing& thing, ShapeId behind) {
    const auto kind = static_cast<int>(thing.kind);
    auto row = blocked_shapes_.query({thing.tenant, kind, thing.name, behind});
    if (!row.next() || row.is_null(0)) return std::nullopt;
    return row.number(0);
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
    auto& held = is_key ? keys_held_ : limits_held_;
    auto row = held.query({thing.tenant, thing.name, holders_counted_max});
    const auto taken = row.next() ? row.number(0) : 0;
    if (taken == holders_counted_max) return 0;
    return static_cast<std::uint32_t>(max - std::min(max, taken));
}

std::uint32_t Show::wanting(const Thing& thing, ShapeId shape, std::uint32_t enough) {
    const auto kind = static_cast<int>(thing.kind);
    auto row = wanting_.query({thing.tenant, kind, thing.name, shape, enough});
    return row.next() ? static_cast<std::uint32_t>(row.number(0)) : 0;
}

OverdueView Show::overdue(WallTime wall, std::uint32_t limit) {
    Transaction snapshot(database_, Transaction::Kind::read);
    return overdue_.show(*this, load_.service().clock, wall, limit);
}

}  // namespace perdure::store::sql
