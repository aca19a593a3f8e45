// Relations: writes what jobs wait for and their callbacks, and knows which jobs anybody waits for.
// That is a copy in memory, so that the end of a job that means nothing to others costs nothing.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "store/sqlite/rows/load_relations.h"

namespace perdure::sqlite {

class Relations {
public:
    explicit Relations(Connection& connection);

    RelationLoader load;

    // Whether the end of this job means anything to others.
    bool is_watched(const JobRow& job) const {
        return !job.spec->callbacks.empty() || waited_for_.contains(job.id.value) ||
               has_added(job.id);
    }
    bool has_added(JobId parent) const { return added_to_.contains(parent.value); }

    void await(JobId job, std::uint32_t number, const After& after, const Input* ended);
    // All who still wait for it, in order of their ids, are told how it has ended.
    std::vector<JobId> tell(JobId other, const Input& ended);
    void add(JobId parent, const AddedRow& row);
    void note_made(const CallbackOf& of, JobId job);
    void forget(const JobRow& job);

private:
    std::unordered_set<std::uint64_t> waited_for_;
    std::unordered_set<std::uint64_t> added_to_;
    Statement await_, waiters_, tell_, add_, made_;
    Statement forget_awaited_, forget_added_, forget_made_;
};

}  // namespace perdure::sqlite
