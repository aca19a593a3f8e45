// Submitting: is what was asked a job we can keep our promises about? And has it been asked before?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/job.h"

namespace perdure {

// Nothing if the job is acceptable; otherwise a sentence that says what to change.
std::optional<Error> check_spec(const JobSpec& spec);

// A hash of everything that was asked, the idempotency key apart (C5).
std::uint64_t body_hash(const JobSpec& spec);

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

}  // namespace perdure
