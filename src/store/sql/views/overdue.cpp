// What SQLite's tables show of what is overdue (store/engine/overdue.h).
#include <algorithm>

#include "store/sql/views/table_views.h"

namespace perdure::store::sql {
namespace {

// In `ready`, jobs that have come together share an instant; some of these stand for nobody any
// more.
constexpr int ready_wakes_max = 5'000;
// Of a permit that so many hold the next end offers what is free.
constexpr std::int64_t holders_counted_max = 5'000;

}  // namespace

void TableViews::add_ready_wakes(ServiceTime now, std::uint32_t max, std::vector<Wake>& wakes) {
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

std::vector<OverdueReader::Wake> TableViews::wakes(ServiceTime now, std::uint32_t max) {
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

std::vector<JobId> TableViews::dates(WallTime wall, std::uint32_t max) {
    std::vector<JobId> jobs;
    auto row = dates_.query({wall, max});
    while (row.next()) jobs.emplace_back(row.bits(1));
    return jobs;
}

std::optional<Permit> TableViews::blocked_permit(const std::optional<Permit>& behind) {
    const Permit from = behind.value_or(Permit{});
    const auto kind = behind ? static_cast<int>(from.kind) : -1;
    auto row = next_permit_.query({from.tenant, kind, from.name});
    if (!row.next()) return std::nullopt;
    return Permit{row.number(1) == 0 ? Permit::Kind::key : Permit::Kind::limit, row.text(0),
                  row.text(2)};
}

std::optional<ShapeId> TableViews::blocked_shape(const Permit& permit, ShapeId behind) {
    const auto kind = static_cast<int>(permit.kind);
    auto row = blocked_shapes_.query({permit.tenant, kind, permit.name, behind});
    if (!row.next() || row.is_null(0)) return std::nullopt;
    return row.number(0);
}

std::uint32_t TableViews::free_of(const Permit& permit) {
    std::int64_t max = 1;
    const bool is_key = permit.kind == Permit::Kind::key;
    if (!is_key) {
        auto row = limit_max_.query({permit.tenant, permit.name});
        // One that is not defined any more is full (C9).
        max = row.next() ? row.number(0) : 0;
        if (max > INT32_MAX) max = 0;
    }
    auto& held = is_key ? keys_held_ : limits_held_;
    auto row = held.query({permit.tenant, permit.name, holders_counted_max});
    const auto taken = row.next() ? row.number(0) : 0;
    if (taken == holders_counted_max) return 0;
    return static_cast<std::uint32_t>(max - std::min(max, taken));
}

std::uint32_t TableViews::wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) {
    const auto kind = static_cast<int>(permit.kind);
    auto row = wanting_.query({permit.tenant, kind, permit.name, shape, enough});
    return row.next() ? static_cast<std::uint32_t>(row.number(0)) : 0;
}

OverdueView TableViews::overdue(WallTime wall, std::uint32_t limit) {
    Transaction snapshot(database_, Transaction::Kind::read);
    return overdue_.show(*this, load_.service().clock, wall, limit);
}

}  // namespace perdure::store::sql
