// GroupRows: rows that the group being applied has asked its tables for. A group is applied in
// memory: what it lacks is loaded between its steps, never within one.
//
// A step is what cannot be divided: a change, one job of a claim, one end and what it means to
// others, one debt. It looks before it leaps: all that it reads it reads before it changes
// anything. Whatever is missing while it looks is loaded at once, together with all that the rest
// of the group is known to want: nothing has to be undone, nobody is passed over, and rows behind a
// network cost a few round trips for a group, however large it is.
//   G1  Nothing is loaded after a step has changed something.
//   G2  What was loaded is what was committed: good until the group is written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/engine/tables.h"

namespace perdure::store {

class GroupRows : public JobReader, public RelationReader {
public:
    explicit GroupRows(Tables& tables) : tables_(tables) {}
    GroupRows(const GroupRows&) = delete;
    GroupRows& operator=(const GroupRows&) = delete;

    // Adds what the rest of the group will want.
    using Plan = std::function<void(Wanted&)>;
    void begin_group(Plan plan);
    void end_group();
    void begin_step() { has_leapt_ = false; }
    void leap() { has_leapt_ = true; }
    // What can be left to the next group is left to it (C8).
    bool has_loaded_enough() const { return loads_left_ == 0; }
    // However much it has loaded so far, it may go on for a while: what was left to it must not be
    // left to the next one for ever.
    void allow_some() { loads_left_ = std::max(loads_left_, allowed_min); }

    // Ahead of being asked for one by one: jobs that are not in memory; and what they wait for.
    void load_jobs(std::set<JobId> ids);
    void load_facts(std::set<JobId> ids);
    bool has_answer_for(JobId job) const { return loaded_.jobs.contains(job); }
    const Loaded& loaded() const { return loaded_; }
    const JobRow* peek(JobId job) const;  // if it was loaded, and nobody has asked for it yet
    static constexpr std::uint32_t shapes_read_max = 64;
    static constexpr std::uint32_t blocked_read_min = 16;  // each time twice as many are read on

    std::optional<JobRow> job(JobId id) override;  // is handed over
    std::vector<AttemptRow> history(JobId job, Epoch from, Epoch before) override;
    std::string large(AttemptKey attempt, Large kind) override;
    std::optional<IdempotencyRow> idempotency(const std::string& tenant,
                                              const std::string& key) override;

    std::vector<KnownAwaited> facts(JobId job) override;
    std::vector<AwaitedView> awaited(JobId job) override;
    std::vector<JobId> waiters(JobId other, std::uint32_t max) override;
    std::vector<AddedRow> added(JobId parent) override;
    std::optional<JobId> made(const CallbackOf& of) override;

    // The first of them behind one; `is_all`: there are no others.
    const Loaded::Some<ShapeId>& shapes_blocked_on(const Permit& permit, ShapeId behind);
    // In order, until `is_it` answers true.
    void find_blocked(const PermitLine& line, const std::optional<QueuePosition>& behind,
                      const std::function<bool(const QueuePosition&)>& is_it);
    std::uint32_t wanting(const PermitLine& line, std::uint32_t enough);
    std::vector<std::uint32_t> read_lines(const std::vector<LineQuery>& queries,
                                          const LineReader::TakeRowOf& take);
    // What retention looks for: each is one load.
    std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max);
    std::vector<KeyName> old_keys(ServiceTime now, std::uint32_t max);
    LineReader::Submits submits(JobId after, std::uint32_t max, const std::set<JobId>& gone);
    bool has_job(JobId job);
    std::uint32_t leftovers(JobId job, std::uint32_t enough);

private:
    static constexpr std::uint32_t allowed_min = 16;

    template <class Key, class Value, class Want>
    Value& answer(LoadedRows<Key, Value> Loaded::*of, const Key& key, Want want);
    void note_load();
    void load(Wanted& wanted);

    Tables& tables_;
    bool in_group_ = false;
    bool has_leapt_ = false;
    Plan plan_;
    std::uint32_t plans_left_ = 0;
    std::uint32_t loads_left_ = 0;
    bool has_loaded_ = false;
    Loaded loaded_;
};

// What the group has changed and nothing shows yet. Whoever adds to it has begun to change: that
// cannot be forgotten to be said (G1).
class Pending {
public:
    Pending() = default;  // nobody loads anything
    explicit Pending(GroupRows& rows) : rows_(&rows) {}
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

    const WriteSet* operator->() const { return &set_; }
    const WriteSet& operator*() const { return set_; }
    WriteSet& change() {
        if (rows_) rows_->leap();
        return set_;
    }

private:
    GroupRows* rows_ = nullptr;
    WriteSet set_;
};

}  // namespace perdure::store
