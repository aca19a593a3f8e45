// MemoryTables: the engine's tables as plain maps. For the simulator and for tests: whatever they
// find wrong is wrong in the engine that ships. What they hold is as durable as the object itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "store/engine/tables.h"
#include "store/memory/places.h"

namespace perdure::store::memory {

// What a job waits for, or whose callback it is; what was added to it; and what it has made.
struct RelationRows {
    std::vector<AwaitedView> awaited;
    std::vector<AddedRow> added;
    std::map<std::pair<std::uint32_t, std::uint32_t>, JobId> made;  // by generation and number
};

struct LargeKey {
    JobId job;
    Epoch epoch;
    Large kind = Large::checkpoint;
    friend auto operator<=>(const LargeKey&, const LargeKey&) = default;
};

// All rows. A copy of it is a backup.
struct Rows {
    using Slots = std::map<std::uint32_t, JobId>;

    ServiceRow service;
    std::map<ServerId, ServerRow> servers;
    std::map<SessionId, SessionRow> sessions;
    std::map<DirectoryPlace, SessionId> directories;
    std::map<JobId, JobRow> jobs;  // each with all of its attempts
    Places places;
    std::map<LargeKey, std::string> large;
    std::map<JobId, RelationRows> relations;   // of jobs that have some
    std::map<JobId, std::set<JobId>> waiters;  // by the one that has not ended yet
    std::map<std::uint64_t, Recovery> ledger;
    std::map<JobId, std::vector<std::uint64_t>> ledger_of;
    std::map<KeyName, IdempotencyRow> keys;
    std::map<ShapeId, Shape> shapes;
    std::map<ShapeId, Counts> tallies;
    std::set<std::pair<std::string, std::string>> paused;  // tenant, queue
    std::map<Permit, std::uint32_t> limits;
    std::map<Permit, Slots> holders;
    std::set<JobId> owed_ends;
    std::map<Permit, ShapeId> owed_permits;
    std::set<JobId> owed_removals;
};

class MemoryTables : public Tables, public JobReader, public RelationReader, public LineReader {
public:
    Rows rows;
    std::uint64_t touched = 0;  // rows that were read by the engine, or written
    std::uint64_t loads = 0;    // how often it has asked for rows, or for lines

    JobReader& jobs() override { return *this; }
    RelationReader& relations() override { return *this; }
    LineReader& lines() override { return *this; }
    Contents contents() override;

    void begin() override {}
    void commit() override;
    void write(WriteSet& set, JobId& at) override;
    bool takes_notes() const override { return true; }
    bool write_note(const IdleNote& note) override;
    void write_one_by_one() override {}
    bool has_job(JobId id) override { return rows.jobs.contains(id); }
    // Some, as if they were far away.
    std::uint32_t most_loads = UINT32_MAX;
    std::uint32_t loads_max() const override { return most_loads; }
    void load(const Wanted& wanted, Loaded& into) override {
        ++loads;
        Tables::load(wanted, into);
    }
    std::vector<std::uint32_t> read_lines(const std::vector<LineQuery>& queries,
                                          const TakeRowOf& take) override {
        ++loads;
        return LineReader::read_lines(queries, take);
    }
    void note_late_load() override { PERDURE_ASSERT(!"loaded after a change (G1)"); }
    std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max) override;
    std::vector<KeyName> old_keys(ServiceTime now, std::uint32_t max) override;
    // All that a job has lies with it, and goes with it.
    std::uint32_t leftovers(JobId, std::uint32_t) override { return 0; }

    std::optional<JobRow> job(JobId id) override;
    std::vector<AttemptRow> history(JobId job, Epoch from, Epoch before) override;
    std::string large(AttemptKey attempt, Large kind) override;
    std::optional<IdempotencyRow> idempotency(const std::string& tenant,
                                              const std::string& key) override;

    std::vector<KnownAwaited> facts(JobId job) override;
    std::vector<AwaitedView> awaited(JobId job) override;
    std::vector<JobId> waiters(JobId other, std::uint32_t max) override;
    std::vector<AddedRow> added(JobId parent) override;
    std::optional<JobId> made(const CallbackOf& of) override;

    std::uint32_t read_line(const LineQuery& query, const TakeRow& take) override;
    std::vector<ShapeId> shapes_blocked_on(const Permit& permit, ShapeId behind,
                                           std::uint32_t max) override;
    void find_blocked(const Permit& permit, ShapeId shape,
                      const std::optional<QueuePosition>& behind,
                      const std::function<bool(const QueuePosition&)>& is_it) override;
    std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) override;
    std::vector<JobId> kept() override;
    Submits submits(JobId after, std::uint32_t max, const std::set<JobId>& gone) override;
    Due next_due() override;
    SessionId owner_of_damaged_run(JobId job) override;

private:
    // memory_writes.cpp
    void write_job(JobRow& job);
    void forget(const ForgottenJob& forgotten);
    void write(const HolderChange& change);
    void write(const LargeChange& change);
    void write(const NewAwaited& row);
    void write(const NotifiedWaiters& notified);
    void write(const NewAdded& added);
    void write(const NewMade& made);
    void write_small(const WriteSet& set);
    void write_debts(const WriteSet& set);
    void write_sessions(const WriteSet& set);
};

}  // namespace perdure::store::memory
