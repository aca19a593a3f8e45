// Relations: notes what jobs wait for and their callbacks, and knows which jobs anybody waits for.
// That is a copy in memory, so that the end of a job that means nothing to others costs nothing.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "store/engine/tables.h"

namespace perdure::store {

class Relations {
public:
    Relations(const Contents& contents, WriteSet& pending);

    // Whether the end of this job means anything to others.
    bool is_watched(const JobRow& job) const {
        return !job.spec->callbacks.empty() || is_awaited(job.id) || has_added(job.id);
    }
    bool is_awaited(JobId job) const { return waited_for_.contains(job.value); }
    bool has_added(JobId parent) const { return added_to_.contains(parent.value); }

    void await(NewAwaited row);
    // All who still wait for it are told how it has ended.
    void tell(JobId other, const Input& ended);
    void add(JobId parent, const AddedRow& row);
    void note_made(const CallbackOf& of, JobId job) {
        pending_.relations.emplace_back(NewMade{of, job});
    }
    // What goes with the job.
    ForgottenJob forget(JobRow job);

private:
    std::unordered_set<std::uint64_t> waited_for_;
    std::unordered_set<std::uint64_t> added_to_;
    WriteSet& pending_;
};

}  // namespace perdure::store
