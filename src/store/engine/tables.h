// Tables: what the engine asks of a kind of table. The engine decides and keeps the working set;
// a Tables writes what has changed, loads rows by key and reads lines on from a position. SQLite
// and plain maps implement it; tests/contract runs the engine on each of them.
//
// What is read is what was committed: a group is applied in memory and written once, as a whole,
// and nobody asks for what it has not written yet (state/lines.h, state/relations.h). A row that
// cannot be understood is a Failure `corrupt`; after any Failure the engine's State is thrown away
// and the transaction undone.
//
// While a group is applied rows come by load() and read_lines() alone, each of which asks for much
// at once and is one round trip, if there is any way to go (state/group_rows.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/job/callbacks.h"
#include "ports/views.h"
#include "store/engine/idle_note.h"
#include "store/engine/rows/rows.h"
#include "store/engine/wanted.h"
#include "store/engine/write_set.h"

namespace perdure::store {

// Rows of jobs, by key.
class JobReader {
public:
    virtual ~JobReader() = default;

    // With its newest attempt alone. Empty if there is no such job.
    virtual std::optional<JobRow> job(JobId id) = 0;
    // The attempts from one epoch on and before another, in order: those that are stored apart,
    // which the newest is not.
    virtual std::vector<AttemptRow> history(JobId job, Epoch from, Epoch before) = 0;
    virtual std::string large(AttemptKey attempt, Large kind) = 0;
    virtual std::optional<IdempotencyRow> idempotency(const std::string& tenant,
                                                      const std::string& key) = 0;
};

// What jobs wait for, and their callbacks (K1 to K3).
class RelationReader {
public:
    virtual ~RelationReader() = default;

    // What decides whether a job goes on; no more than that is read.
    virtual std::vector<KnownAwaited> facts(JobId job) = 0;
    virtual std::vector<AwaitedView> awaited(JobId job) = 0;
    // The first jobs that still wait for this one, in order of their ids.
    virtual std::vector<JobId> waiters(JobId other, std::uint32_t max) = 0;
    virtual std::vector<AddedRow> added(JobId parent) = 0;
    virtual std::optional<JobId> made(const CallbackOf& of) = 0;
};

// A part of a shape's line.
struct LineQuery {
    ShapeId shape = 0;
    std::optional<QueuePosition> behind;  // empty: from the front on
    std::uint32_t max = 0;
    bool jobs_are_loaded = false;  // a guess: then their specs need not be read
};

// Jobs by their place.
class LineReader {
public:
    virtual ~LineReader() = default;

    // Called for each row: its place, its number for JobRow::read_as, and what loads the job.
    using LoadRow = std::function<JobRow()>;
    using TakeRow =
        std::function<void(const QueuePosition&, std::uint64_t read_as, const LoadRow&)>;
    // Answers how many rows there were.
    virtual std::uint32_t read_line(const LineQuery& query, const TakeRow& take) = 0;
    // Several lines at once. `take` says of which query; answers how many rows each had.
    using TakeRowOf = std::function<void(std::size_t query, const QueuePosition&,
                                         std::uint64_t read_as, const LoadRow&)>;
    virtual std::vector<std::uint32_t> read_lines(const std::vector<LineQuery>& queries,
                                                  const TakeRowOf& take);

    // The first of them behind one.
    virtual std::vector<ShapeId> shapes_blocked_on(const Permit& permit, ShapeId behind,
                                                   std::uint32_t max) = 0;
    // In the order of the line, until `is_it` answers true.
    virtual void find_blocked(const Permit& permit, ShapeId shape,
                              const std::optional<QueuePosition>& behind,
                              const std::function<bool(const QueuePosition&)>& is_it) = 0;
    // How many ready jobs of this shape have yet to take the permit; no more than `enough` are
    // counted.
    virtual std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) = 0;
    virtual std::vector<JobId> kept() = 0;  // jobs in `ready` that still hold their permits
    // The first instant at which a job that waits for time, or for others, has to be looked at.
    struct Due {
        std::optional<ServiceTime> at;
        std::optional<WallTime> date;
    };
    virtual Due next_due() = 0;
    // Of the next jobs by their ids, but for those that go: which was submitted first. Ids do not
    // tell, where a clock was wrong.
    struct Submits {
        std::optional<std::pair<ServiceTime, JobId>> first;
        JobId last;
        bool are_all = false;  // there is none behind them
    };
    virtual Submits submits(JobId after, std::uint32_t max, const std::set<JobId>& gone) = 0;
    // Who owns what runs, as far as anything in a row that cannot be understood says so.
    virtual SessionId owner_of_damaged_run(JobId job) = 0;
};

// What is always in memory as a whole. Numbers that must be within bounds are as stored.
struct Contents {
    struct RunOf {
        SessionId session;
        std::uint64_t assignment = 0;
        JobId job;
    };
    struct Holder {
        Permit permit;
        std::int64_t slot = 1;
        JobId job;
    };

    ServiceRow service;
    std::map<ServerId, ServerRow> servers;
    std::vector<SessionRow> sessions;
    std::vector<SessionId> noted;  // of them, those of which a note says more than their rows
    std::vector<SessionOfDirectory> directories;
    std::vector<RunOf> runs;
    JobId highest_job;
    std::vector<ShapeRow> shapes;  // in order
    std::vector<TallyRow> tallies;
    std::vector<ShapeId> ready_shapes;  // that have a job in `ready`, whatever is counted
    bool has_blocked = false;
    std::vector<PauseRow> pauses;
    std::vector<LimitRow> limits;
    std::vector<Holder> holders;
    std::vector<JobId> owed_ends;
    std::vector<std::pair<Permit, ShapeId>> owed_permits;
    std::vector<JobId> owed_removals;

    ShapeId shape_max() const { return shapes.empty() ? 0 : shapes.back().id; }
};

// What the group that is being applied asks for (state/group_rows.h).
class GroupLoader {
public:
    virtual ~GroupLoader() = default;

    // All of it at once. What was loaded before is replaced; a line of blocked jobs goes on.
    virtual void load(const Wanted& wanted, Loaded& into) = 0;
    // So often a group may load something before it leaves the rest to the next one (C8): as often
    // as it likes, if there is no way to go.
    virtual std::uint32_t loads_max() const { return UINT32_MAX; }
    // Something is loaded after its step has changed something (G1): a round trip that everybody
    // waits for, and nothing worse. Tables for tests do not let it pass.
    virtual void note_late_load() {}
};

class NoteWriter {
public:
    virtual ~NoteWriter() = default;
    // What a store that is idle must not forget, durably, without touching a table. False: there is
    // no room for it.
    virtual bool takes_notes() const { return false; }
    virtual bool write_note(const IdleNote&) { return false; }
};

class Tables : public GroupLoader, public NoteWriter {
public:
    virtual JobReader& jobs() = 0;
    virtual RelationReader& relations() = 0;
    virtual LineReader& lines() = 0;
    virtual Contents contents() = 0;
    void load(const Wanted& wanted, Loaded& into) override;

    // One transaction. What is not committed is undone by whoever catches the Failure.
    virtual void begin() = 0;
    virtual void commit() = 0;
    // All that a group has changed; empties the set. `at` is the job whose turn it is, if it is
    // one's: the one to blame for a Failure.
    virtual void write(WriteSet& set, JobId& at) = 0;
    // Slowly, from now on, so that the job to blame is known.
    virtual void write_one_by_one() = 0;
    virtual bool has_job(JobId id) = 0;

    // Notes of jobs whose retention may be over, earliest first.
    virtual std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max) = 0;
    // How many rows a job has left that is removed; no more than `enough` are counted.
    virtual std::uint32_t leftovers(JobId job, std::uint32_t enough) = 0;
    // Keys that are kept no longer.
    virtual std::vector<KeyName> old_keys(ServiceTime now, std::uint32_t max) = 0;
};

}  // namespace perdure::store
