// Relations: what jobs wait for and their callbacks, as the tables show them and as the group that
// is being applied has changed them. That anybody waits for a job, or has added a callback to it,
// is a bit in its own row: the end of a job that means nothing to others costs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/engine/state/group_rows.h"

namespace perdure::store {

class Relations : public RelationReader {
public:
    Relations(GroupRows& written, Pending& pending) : written_(written), pending_(pending) {}

    std::vector<KnownAwaited> facts(JobId job) override;
    std::vector<AwaitedView> awaited(JobId job) override;
    std::vector<JobId> waiters(JobId other, std::uint32_t max) override;
    std::vector<AddedRow> added(JobId parent) override;
    std::optional<JobId> made(const CallbackOf& of) override;

    // Of a job that this group has made.
    void await(NewAwaited row);
    // Of those who still wait for it, some are told how it has ended.
    void notify(NotifiedWaiters notified);
    void add(JobId parent, const AddedRow& row);
    void note_made(const CallbackOf& of, JobId job);
    // What goes with the job.
    ForgottenJob forget(JobRow job);
    // The tables show all.
    void note_written();

private:
    // What a waiter was told of it by this group.
    const Input* notified(JobId other, JobId waiter) const;

    GroupRows& written_;
    Pending& pending_;

    // Of this group.
    std::map<JobId, std::vector<AwaitedView>> begun_;  // what its new jobs wait for
    std::map<JobId, std::vector<JobId>> joined_;       // those of them that wait for this one
    std::map<JobId, NotifiedWaiters> notified_;        // by the one that has ended
    std::map<JobId, std::vector<AddedRow>> added_;
    std::map<MadeName, JobId> made_;
};

}  // namespace perdure::store
