// KnownJobs: of several jobs, those that the store can show. A row that cannot be understood must
// not silence the worker that names it together with others: it is left to a person, and nothing
// is concluded about it.
#pragma once

#include <set>
#include <vector>

#include "ports/store.h"

namespace perdure {

struct KnownJobs {
    std::vector<JobView> jobs;
    std::set<JobId> damaged;

    // Null: there is no such job, or it is damaged.
    const JobView* find(JobId id) const;
};

// Each with its newest attempt alone.
Task<Result<KnownJobs>> known_jobs(Store& store, std::vector<JobId> ids);

}  // namespace perdure
