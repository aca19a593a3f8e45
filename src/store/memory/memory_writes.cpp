// Writing. Each step touches exactly one row, as in every other kind of table (C3).
#include <iterator>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "store/memory/memory_tables.h"

namespace perdure::store::memory {
namespace {

template <class Map, class Key>
void erase_one(Map& map, const Key& key) {
    const auto erased = map.erase(key);
    PERDURE_ASSERT(erased == 1);
}

// What is known of earlier attempts stays: a job may come without them.
std::vector<AttemptRow> merged(std::vector<AttemptRow> stored, const JobRow& job) {
    if (job.has_history || job.attempts.empty()) return job.attempts;
    for (const auto& attempt : job.older) stored.at(attempt.epoch.value - 1) = attempt;
    const auto first = job.attempts.front().epoch;
    std::erase_if(stored, [&](const AttemptRow& attempt) { return attempt.epoch >= first; });
    stored.insert(stored.end(), job.attempts.begin(), job.attempts.end());
    return stored;
}

}  // namespace

void MemoryTables::write_job(JobRow& job) {
    const auto found = rows.jobs.find(job.id);
    PERDURE_ASSERT((found != rows.jobs.end()) == job.stored.has_value());
    std::vector<AttemptRow> attempts;
    if (found != rows.jobs.end()) {
        rows.places.remove(found->second);
        attempts = std::move(found->second.attempts);
    }
    for (auto& attempt : job.attempts) attempt.unsaved = false;
    for (auto& attempt : job.older) attempt.unsaved = false;
    job.mark_stored();
    attempts = merged(std::move(attempts), job);
    auto& row = rows.jobs[job.id];
    row = job;
    row.attempts = std::move(attempts);
    row.has_history = true;
    row.older.clear();
    rows.places.insert(row);
}

bool MemoryTables::write_note(const IdleNote& note) {
    rows.service = note.service;
    for (const auto& heard : note.sessions) add_to(rows.sessions.at(heard.id), heard);
    return true;
}

void MemoryTables::forget(const ForgottenJob& forgotten) {
    const auto id = forgotten.job.id;
    rows.places.remove(rows.jobs.at(id));
    for (const auto& row : awaited(id)) {
        const auto found = rows.waiters.find(row.after.job);
        if (row.ended || found == rows.waiters.end()) continue;
        found->second.erase(id);
        if (found->second.empty()) rows.waiters.erase(found);
    }
    rows.relations.erase(id);
    const auto first = LargeKey{id, {}, Large::checkpoint};
    auto large = rows.large.lower_bound(first);
    while (large != rows.large.end() && large->first.job == id) large = rows.large.erase(large);
    if (const auto entries = rows.ledger_of.find(id); entries != rows.ledger_of.end()) {
        for (const auto entry : entries->second) erase_one(rows.ledger, entry);
        rows.ledger_of.erase(entries);
    }
    erase_one(rows.jobs, id);
}

void MemoryTables::write(const HolderChange& change) {
    auto& slots = rows.holders[change.permit];
    if (change.kind == HolderChange::Kind::taken) {
        const bool taken = slots.emplace(change.slot, change.job).second;
        PERDURE_ASSERT(taken);
        return;
    }
    PERDURE_ASSERT(change.kind == HolderChange::Kind::freed);
    erase_one(slots, change.slot);
    if (slots.empty()) rows.holders.erase(change.permit);
}

void MemoryTables::write(const LargeChange& change) {
    const LargeKey key{change.attempt.job, change.attempt.epoch, change.kind};
    if (!change.bytes) return erase_one(rows.large, key);
    rows.large[key] = *change.bytes;
}

void MemoryTables::write(const NewAwaited& row) {
    auto& awaited = rows.relations[row.job].awaited;
    PERDURE_ASSERT(awaited.size() == row.number);
    awaited.push_back({row.after, row.ended});
    if (!row.ended) rows.waiters[row.after.job].insert(row.job);
}

void MemoryTables::write(const NotifiedWaiters& notified) {
    const auto waiters = rows.waiters.find(notified.other);
    if (waiters == rows.waiters.end()) return;
    auto& all = waiters->second;
    const auto end = all.upper_bound(notified.last);
    touched += static_cast<std::uint64_t>(std::distance(all.begin(), end));
    for (auto at = all.begin(); at != end; ++at)
        for (auto& awaited : rows.relations.at(*at).awaited)
            if (awaited.after.job == notified.other && !awaited.ended)
                awaited.ended = notified.ended;
    all.erase(all.begin(), end);
    if (all.empty()) rows.waiters.erase(waiters);
}

void MemoryTables::write_debts(const WriteSet& set) {
    for (const auto& [job, is_owed] : set.owed_ends) {
        if (is_owed)
            rows.owed_ends.insert(job);
        else
            rows.owed_ends.erase(job);
    }
    for (const auto& [job, is_owed] : set.owed_removals) {
        if (is_owed)
            rows.owed_removals.insert(job);
        else
            rows.owed_removals.erase(job);
    }
    for (const auto& [permit, behind] : set.owed_permits) {
        if (behind)
            rows.owed_permits.insert_or_assign(permit, *behind);
        else
            rows.owed_permits.erase(permit);
    }
}

void MemoryTables::write(const NewAdded& added) {
    rows.relations[added.parent].added.push_back(added.row);
}

void MemoryTables::write(const NewMade& made) {
    auto& all = rows.relations[made.of.job].made;
    const bool is_new = all.try_emplace({made.of.generation, made.of.number}, made.job).second;
    PERDURE_ASSERT(is_new);
}

void MemoryTables::write_sessions(const WriteSet& set) {
    for (const auto& [directory, session] : set.directories) rows.directories[directory] = session;
    for (const auto* session : set.sessions) rows.sessions[session->id] = *session;
    for (const auto& [directory, id] : set.forgotten_sessions) {
        erase_one(rows.sessions, id);
        const auto latest = rows.directories.find(directory);
        if (latest != rows.directories.end() && latest->second == id)
            rows.directories.erase(latest);
    }
}

void MemoryTables::write_small(const WriteSet& set) {
    for (const auto& entry : set.ledger) {
        const bool is_new = rows.ledger.emplace(entry.id, entry).second;
        PERDURE_ASSERT(is_new);
        rows.ledger_of[entry.attempt.job].push_back(entry.id);
    }
    for (const auto& name : set.old_keys) erase_one(rows.keys, name);
    for (const auto& [name, row] : set.keys) rows.keys.insert_or_assign(name, row);
    for (const auto& [id, shape] : set.shapes) rows.shapes[id] = shape;
    for (const auto& tally : set.tallies) rows.tallies[tally.shape] = tally.jobs;
    for (const auto& pause : set.pauses) {
        if (pause.paused) {
            rows.paused.emplace(pause.tenant, pause.queue);
        } else {
            rows.paused.erase({pause.tenant, pause.queue});
        }
    }
    for (const auto& row : set.limits) rows.limits[row.limit] = static_cast<std::uint32_t>(row.max);
    for (const auto& [id, row] : set.servers) {
        if (row) {
            rows.servers[id] = *row;
        } else {
            rows.servers.erase(id);
        }
    }
    if (set.service) rows.service = *set.service;
}

void MemoryTables::write(WriteSet& set, JobId& at) {
    touched += set.jobs.size() + set.large.size() + set.holders.size() + set.relations.size() +
               set.forgotten.size() + set.ledger.size() + set.keys.size() + set.old_keys.size() +
               set.tallies.size() + set.sessions.size() + set.owed_ends.size() +
               set.owed_permits.size();
    for (auto* job : set.jobs) write_job(*job);
    for (const auto& change : set.large) write(change);
    for (const auto& change : set.holders) write(change);
    for (const auto& change : set.relations)
        std::visit([&](const auto& row) { write(row); }, change);
    for (const auto& forgotten : set.forgotten) forget(forgotten);
    write_sessions(set);
    write_small(set);
    write_debts(set);
    set.clear();
    at = {};
}

// Every job is in exactly one place (J1).
void MemoryTables::commit() { PERDURE_ASSERT(rows.places.total() == rows.jobs.size()); }

}  // namespace perdure::store::memory
