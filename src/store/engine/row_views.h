// Views of jobs, from their rows: the same for every kind of tables.
#pragma once

#include <memory>

#include "ports/views.h"
#include "store/engine/tables.h"

namespace perdure::store {

struct ViewReaders {
    JobReader& jobs;
    RelationReader& relations;
};

// Of a job in `run`; `worker_policy` is its session's.
RunView run_view(ViewReaders readers, JobRow& job, decltype(RunView::worker_policy) worker_policy);
// Without its row in `run`, and without what it waits for and makes.
JobView job_view(JobReader& reader, const JobRow& job, AttemptWindow attempts);
// Without what runs in it.
SessionView session_view(const SessionRow& session, const ServiceTick& clock);
OwnerView owner_view(const SessionRow& session, const ServiceTick& clock);

}  // namespace perdure::store
