// Batches: jobs that are submitted together, all or none.
#pragma once

#include <map>
#include <memory>

#include "core/job.h"

namespace perdure {

// A job that waits for an earlier one of its batch, which an idempotency key has found to be
// another job: it waits for that one (C5).
std::shared_ptr<const JobSpec> with_found(std::shared_ptr<const JobSpec> asked,
                                          const std::map<JobId, JobId>& found);

}  // namespace perdure
