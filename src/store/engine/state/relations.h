// Relations: what jobs wait for and their callbacks, as the tables show them and as the group that
// is being applied has changed them; and which jobs anybody waits for: that is a copy in memory, so
// that the end of a job that means nothing to others costs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "store/engine/tables.h"

namespace perdure::store {

class Relations : public RelationReader {
public:
    Relations(RelationReader& written, const Contents& contents, WriteSet& pending);

    // Whether the end of this job means anything to others.
    bool is_watched(const JobRow& job) const {
        return !job.spec->callbacks.empty() || is_awaited(job.id) || has_added(job.id);
    }
    bool is_awaited(JobId job) const { return waited_for_.contains(job.value); }
    bool has_added(JobId parent) const { return added_to_.contains(parent.value); }

    std::vector<KnownAwaited> facts(JobId job) override;
    std::vector<AwaitedView> awaited(JobId job) override;
    std::vector<JobId> waiters(JobId other) override;
    std::vector<AddedRow> added(JobId parent) override;
    std::optional<JobId> made(const CallbackOf& of) override;

    // Of a job that this group has made.
    void await(NewAwaited row);
    // All who still wait for it are told how it has ended.
    void tell(JobId other, const Input& ended);
    void add(JobId parent, const AddedRow& row);
    void note_made(const CallbackOf& of, JobId job);
    // What goes with the job.
    ForgottenJob forget(JobRow job);
    // The tables show all.
    void note_written();

private:
    using MadeKey = std::tuple<JobId, std::uint32_t, std::uint32_t>;

    RelationReader& written_;
    std::unordered_set<std::uint64_t> waited_for_;
    std::unordered_set<std::uint64_t> added_to_;
    WriteSet& pending_;

    // Of this group.
    std::map<JobId, std::vector<AwaitedView>> begun_;  // what its new jobs wait for
    std::map<JobId, std::vector<JobId>> joined_;       // those of them that wait for this one
    std::map<JobId, Input> told_;                      // how this one has ended
    std::map<JobId, std::vector<AddedRow>> added_;
    std::map<MadeKey, JobId> made_;
};

}  // namespace perdure::store
