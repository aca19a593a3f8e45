// Batches: jobs that are submitted together, all or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/job/job.h"

namespace perdure {

// The tenants of the jobs that come before one in its batch, by the ids under which they are asked
// for.
using EarlierInBatch = std::map<JobId, std::string>;

// An entry of JobSpec::after that means an earlier job of the same batch, which has no id yet.
struct AfterEarlier {
    std::size_t position = 0;  // in `after`
    std::uint32_t index = 0;   // in the batch
};

// A job that waits for an earlier one of its batch, which an idempotency key has found to be
// another job: it waits for that one (C5).
std::shared_ptr<const JobSpec> with_found(std::shared_ptr<const JobSpec> asked,
                                          const std::map<JobId, JobId>& found);

}  // namespace perdure
