// Submitting: is what was asked a job we can keep our promises about? And has it been asked before?
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/job/job.h"

namespace perdure {

// 1 to 64 of a-z 0-9 . _ - that begin with a letter or digit: tenants, queues, kinds, limits.
bool is_name(std::string_view name);

// Empty if the job is acceptable; otherwise the field to blame, if it is one alone, and a
// sentence that says what to change.
struct SpecFault {
    std::string field;  // as it is spelt on the wire: "timeouts", "on_end[2].argv"
    Error error;
};
std::optional<SpecFault> find_fault(const JobSpec& spec);
// The same for a delay, which becomes the job's date.
std::optional<SpecFault> find_fault_of_delay(Duration delay);
// The same for a callback that is added to a job.
std::optional<SpecFault> find_fault_of_callback(const JobSpec& callback, const JobSpec& parent);
std::optional<Error> check_spec(const JobSpec& spec);

// Whose it is, and whose all of its callbacks are (W1). Never what a body has said.
void keep_submitter(JobSpec& spec, const Who& who);

struct IdempotencyFacts {
    bool key_known = false;
    bool same_body = false;
    bool job_gone = false;  // retention removed it; the key outlives it
};
struct IdempotencyDecision {
    enum class Kind { create, same_job, other_body, gone } kind = Kind::create;
    std::string_view rule;
};
IdempotencyDecision decide_idempotency(const IdempotencyFacts& facts);

// --- batches: jobs that are submitted together, all or none --------------------------------------

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
