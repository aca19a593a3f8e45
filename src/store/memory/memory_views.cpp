#include "store/memory/memory_views.h"

#include <algorithm>
#include <iterator>

#include "store/engine/apply/ending.h"
#include "store/engine/row_views.h"

namespace perdure::store::memory {
RunView MemoryViews::run_view(JobRow& job) {
    const auto& session = rows_.sessions.at(job.in<Run>()->session);
    return store::run_view({tables_, tables_}, job, session.policy);
}

void MemoryViews::add_relations(const JobRow& job, JobView& view) {
    const auto found = rows_.relations.find(job.id);
    if (found == rows_.relations.end()) return;
    view.awaited = found->second.awaited;
    for (const auto& row : found->second.added)
        view.added.push_back({row.number, row.since_generation, row.callback});
    for (const auto& [key, made] : found->second.made)
        view.made.push_back({key.first, key.second, made});
}

JobView MemoryViews::job_view(JobRow& job, AttemptWindow attempts) {
    auto view = store::job_view(tables_, job, attempts);
    if (job.in<Run>()) view.run = run_view(job);
    add_relations(job, view);
    return view;
}

std::vector<OverdueReader::Wake> MemoryViews::wakes(ServiceTime now, std::uint32_t max) {
    std::vector<Wake> come;
    for (const auto& wake : rows_.places.wakes()) {
        if (wake.first > now || come.size() == max) break;
        come.push_back(wake);
    }
    return come;
}

std::vector<JobId> MemoryViews::dates(WallTime wall, std::uint32_t max) {
    std::vector<JobId> come;
    for (const auto& [date, id] : rows_.places.dates()) {
        if (date > wall || come.size() == max) break;
        come.push_back(id);
    }
    return come;
}

std::optional<Permit> MemoryViews::blocked_permit(const std::optional<Permit>& behind) {
    const auto& permits = rows_.places.blocked();
    const auto next = behind ? permits.upper_bound(*behind) : permits.begin();
    if (next == permits.end()) return std::nullopt;
    return next->first;
}

std::optional<ShapeId> MemoryViews::blocked_shape(const Permit& permit, ShapeId behind) {
    const auto shapes = rows_.places.shapes_blocked_on(permit);
    const auto next = std::upper_bound(shapes.begin(), shapes.end(), behind);
    if (next == shapes.end()) return std::nullopt;
    return *next;
}

std::uint32_t MemoryViews::free_of(const Permit& permit) {
    std::uint32_t max = 1;
    if (permit.kind == Permit::Kind::limit) {
        const auto limit = rows_.limits.find(permit);
        max = limit == rows_.limits.end() ? 0 : limit->second;
    }
    const auto held = rows_.holders.find(permit);
    const auto taken = held == rows_.holders.end() ? 0 : held->second.size();
    return max - static_cast<std::uint32_t>(std::min<std::size_t>(max, taken));
}

std::uint32_t MemoryViews::wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) {
    const auto all = rows_.places.wanting(permit, shape);
    return static_cast<std::uint32_t>(std::min<std::size_t>(all, enough));
}

ServiceView MemoryViews::service() const {
    const auto& places = rows_.places;
    const auto& row = rows_.service;
    const auto soon = timing_.idle_tick;
    const bool nothing_moves = places.count(Place::run) == 0 && places.count(Place::ready) == 0 &&
                               places.count(Place::blocked) == 0;
    const bool nothing_due =
        (places.wakes().empty() || places.wakes().begin()->first > now() + soon) &&
        (places.dates().empty() || places.dates().begin()->first > row.wall + soon);
    auto highest = std::max(row.id_high_water, row.made_id_high_water);
    for (const auto& [id, server] : rows_.servers)
        highest = std::max(highest, server.id_high_water);
    return {.clock = row.clock,
            .keeper = row.keeper,
            .idle = nothing_moves && nothing_due,
            .id_high_water = highest};
}

// Nothing here is large: the piece is all that is behind.
std::optional<SessionView> MemoryViews::session(SessionId id, JobId runs_behind) {
    const auto found = rows_.sessions.find(id);
    if (found == rows_.sessions.end()) return std::nullopt;
    const SessionRow& session = found->second;
    auto view = store::session_view(session, rows_.service.clock);
    for (const auto& [assignment, job] : rows_.places.runs_of(session.id))
        if (runs_behind < job) view.runs.push_back(run_view(rows_.jobs.at(job)));
    return view;
}

std::optional<SessionId> MemoryViews::latest_session(const StateDirectory& directory) const {
    const auto found = rows_.directories.find(place_of(directory));
    if (found == rows_.directories.end() || !rows_.sessions.contains(found->second))
        return std::nullopt;
    return found->second;
}

OverdueView MemoryViews::overdue(WallTime wall, std::uint32_t limit) {
    return overdue_.show(*this, rows_.service.clock, wall, limit);
}

std::optional<OwnerView> MemoryViews::owner(SessionId id) const {
    const auto found = rows_.sessions.find(id);
    if (found == rows_.sessions.end()) return std::nullopt;
    return owner_view(found->second, rows_.service.clock);
}

std::vector<JobView> MemoryViews::jobs(const std::vector<JobId>& ids, AttemptWindow attempts) {
    std::vector<JobView> views;
    for (const auto id : ids) {
        const auto found = rows_.jobs.find(id);
        if (found != rows_.jobs.end()) views.push_back(job_view(found->second, attempts));
    }
    return views;
}

AuditView MemoryViews::audit(const AuditPlace& after, std::uint32_t limit) {
    AuditView view{.repairs = rows_.service.repairs,
                   .fenced = rows_.service.fenced,
                   .clock = rows_.service.clock};
    auto it = rows_.jobs.upper_bound(after.job);
    for (; it != rows_.jobs.end() && view.jobs.size() < limit; ++it)
        view.jobs.push_back(job_view(it->second, {}));
    if (it != rows_.jobs.end()) view.next = AuditPlace{.job = std::prev(it)->first};
    if (after.job) return view;
    for (const auto& [permit, slots] : rows_.holders)
        for (const auto& [slot, job] : slots) view.holders.push_back({permit, slot, job});
    view.owed_ends.assign(rows_.owed_ends.begin(), rows_.owed_ends.end());
    for (const auto& [permit, behind] : rows_.owed_permits) view.owed_permits.push_back(permit);
    return view;
}

}  // namespace perdure::store::memory
