#include "store/memory/memory_tables.h"

#include <algorithm>

#include "store/engine/failure.h"

namespace perdure::store::memory {

Contents MemoryTables::contents() {
    Contents all;
    all.service = rows.service;
    all.servers = rows.servers;
    for (const auto& [id, session] : rows.sessions) all.sessions.push_back(session);
    for (const auto& [place, session] : rows.directories)
        all.directories.push_back({place, session});
    for (const auto& [session, runs] : rows.places.runs())
        for (const auto& [assignment, job] : runs) all.runs.push_back({session, assignment, job});
    if (!rows.jobs.empty()) all.highest_job = rows.jobs.rbegin()->first;
    for (const auto& [id, shape] : rows.shapes) all.shapes.push_back({id, shape});
    for (const auto& [shape, jobs] : rows.tallies) all.tallies.push_back({shape, jobs});
    for (const auto& [shape, line] : rows.places.ready()) all.ready_shapes.push_back(shape);
    all.has_blocked = rows.places.count(Place::blocked) > 0;
    for (const auto& [tenant, queue] : rows.paused) all.pauses.push_back({tenant, queue, true});
    for (const auto& [limit, max] : rows.limits) all.limits.push_back({limit, max});
    for (const auto& [permit, slots] : rows.holders)
        for (const auto& [slot, job] : slots) all.holders.push_back({permit, slot, job});
    all.owed_ends.assign(rows.owed_ends.begin(), rows.owed_ends.end());
    all.owed_permits.assign(rows.owed_permits.begin(), rows.owed_permits.end());
    all.owed_removals.assign(rows.owed_removals.begin(), rows.owed_removals.end());
    return all;
}

std::vector<ForgetNote> MemoryTables::to_forget(ServiceTime now, std::uint32_t max) {
    std::vector<ForgetNote> due;
    for (const auto& [at, job] : rows.places.retentions()) {
        if (at > now || due.size() == max) break;
        due.push_back({at, {job}});
        ++touched;
    }
    return due;
}

std::vector<KeyName> MemoryTables::old_keys(ServiceTime now, std::uint32_t max) {
    std::vector<std::pair<ServiceTime, KeyName>> old;
    for (const auto& [name, row] : rows.keys)
        if (row.until && *row.until <= now) old.emplace_back(*row.until, name);
    std::sort(old.begin(), old.end());
    if (old.size() > max) old.resize(max);
    touched += old.size();
    std::vector<KeyName> names;
    for (auto& [until, name] : old) names.push_back(std::move(name));
    return names;
}

// Without its history, as every other kind of table gives it.
std::optional<JobRow> MemoryTables::job(JobId id) {
    ++touched;
    const auto found = rows.jobs.find(id);
    if (found == rows.jobs.end()) return std::nullopt;
    std::optional<JobRow> job = found->second;
    if (job->attempts.size() > 1) {
        job->attempts.erase(job->attempts.begin(), job->attempts.end() - 1);
        job->has_history = false;
    }
    return job;
}

std::vector<AttemptRow> MemoryTables::history(JobId job, Epoch from, Epoch before) {
    std::vector<AttemptRow> found;
    for (const auto& attempt : rows.jobs.at(job).attempts)
        if (from <= attempt.epoch && attempt.epoch < before) found.push_back(attempt);
    touched += found.size();
    return found;
}

std::string MemoryTables::large(AttemptKey attempt, Large kind) {
    return rows.large.at({attempt.job, attempt.epoch, kind});
}

std::optional<IdempotencyRow> MemoryTables::idempotency(const std::string& tenant,
                                                        const std::string& key) {
    const auto found = rows.keys.find({tenant, key});
    if (found == rows.keys.end()) return std::nullopt;
    return found->second;
}

std::vector<KnownAwaited> MemoryTables::facts(JobId job) {
    std::vector<KnownAwaited> known;
    for (const auto& [after, ended] : awaited(job)) {
        known.push_back({after.job, {.on = after.on, .ended_as = {}}});
        if (ended) known.back().facts.ended_as = ended->state;
    }
    return known;
}

std::vector<AwaitedView> MemoryTables::awaited(JobId job) {
    const auto found = rows.relations.find(job);
    if (found == rows.relations.end()) return {};
    touched += found->second.awaited.size();
    return found->second.awaited;
}

std::vector<JobId> MemoryTables::waiters(JobId other, std::uint32_t max) {
    std::vector<JobId> some;
    const auto found = rows.waiters.find(other);
    if (found == rows.waiters.end()) return some;
    const auto& all = found->second;
    for (auto at = all.begin(); at != all.end() && some.size() < max; ++at) some.push_back(*at);
    touched += some.size();
    return some;
}

std::vector<ShapeId> MemoryTables::shapes_blocked_on(const Permit& permit, ShapeId behind,
                                                     std::uint32_t max) {
    std::vector<ShapeId> some;
    for (const auto shape : rows.places.shapes_blocked_on(permit))
        if (behind < shape && some.size() < max) some.push_back(shape);
    touched += some.size();
    return some;
}

std::vector<AddedRow> MemoryTables::added(JobId parent) {
    const auto found = rows.relations.find(parent);
    return found == rows.relations.end() ? std::vector<AddedRow>{} : found->second.added;
}

std::optional<JobId> MemoryTables::made(const CallbackOf& of) {
    const auto found = rows.relations.find(of.job);
    if (found == rows.relations.end()) return std::nullopt;
    const auto made = found->second.made.find({of.generation, of.number});
    if (made == found->second.made.end()) return std::nullopt;
    return made->second;
}

std::uint32_t MemoryTables::read_line(const LineQuery& query, const TakeRow& take) {
    const auto line = rows.places.ready().find(query.shape);
    if (line == rows.places.ready().end()) return 0;
    const auto& orders = line->second;
    auto at = query.behind ? orders.upper_bound(*query.behind) : orders.begin();
    JobId id;
    const LoadRow load = [&] { return *job(id); };
    std::uint32_t read = 0;
    for (; at != orders.end() && read < query.max; ++at, ++read) {
        id = at->job;
        take(*at, 0, load);
    }
    touched += read;
    return read;
}

void MemoryTables::find_blocked(const Permit& permit, ShapeId shape,
                                const std::optional<QueuePosition>& behind,
                                const std::function<bool(const QueuePosition&)>& is_it) {
    const auto& line = rows.places.blocked_on(permit, shape);
    auto at = behind ? line.upper_bound(*behind) : line.begin();
    for (; at != line.end(); ++at) {
        ++touched;
        if (is_it(*at)) return;
    }
}

std::uint32_t MemoryTables::wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) {
    const auto wanting = rows.places.wanting(permit, shape);
    const auto counted = static_cast<std::uint32_t>(std::min<std::size_t>(wanting, enough));
    touched += counted;
    return counted;
}

std::vector<JobId> MemoryTables::kept() {
    const auto& kept = rows.places.kept();
    return {kept.begin(), kept.end()};
}

LineReader::Due MemoryTables::next_due() {
    const auto& places = rows.places;
    Due due;
    if (!places.wakes().empty()) due.at = places.wakes().begin()->first;
    if (!places.dates().empty()) due.date = places.dates().begin()->first;
    return due;
}

LineReader::Submits MemoryTables::submits(JobId after, std::uint32_t max,
                                          const std::set<JobId>& gone) {
    Submits some;
    auto at = rows.jobs.upper_bound(after);
    for (std::uint32_t i = 0; i < max && at != rows.jobs.end(); ++i, ++at) {
        ++touched;
        some.last = at->first;
        const std::pair submit{at->second.submitted_at, at->first};
        if (gone.contains(at->first) || (some.first && *some.first <= submit)) continue;
        some.first = submit;
    }
    some.are_all = at == rows.jobs.end();
    return some;
}

SessionId MemoryTables::owner_of_damaged_run(JobId job) {
    return rows.jobs.at(job).attempts.back().session();
}

}  // namespace perdure::store::memory
