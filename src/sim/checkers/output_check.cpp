// What is kept of what attempts print: a beginning of it, byte by byte, and all of it once the end
// was accepted, unless the attempt says that some is missing.
#include <fmt/format.h>

#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

bool says_that_some_is_missing(const AttemptView& attempt) {
    return attempt.evidence && attempt.evidence->output_undelivered > 0;
}

}  // namespace

// A piece is about to be kept.
void Checker::kept(const LogChunk& chunk) {
    const auto what =
        fmt::format("output of {} epoch {}", chunk.attempt.job.text(), chunk.attempt.epoch.value);
    const auto* run = parts_.witness.run_of(chunk.attempt);
    if (!run) return report("P9", what + " is kept, and it never ran");
    const auto beyond = chunk.offset + chunk.bytes.size() > run->printed.size();
    if (beyond || run->printed.compare(chunk.offset, chunk.bytes.size(), chunk.bytes) != 0)
        report("P9", what + " is kept that it has not printed");
}

// An attempt whose end was reported and accepted has all of its output kept, or says that it has
// not (O1). Of one that a server gave up nothing is said: whatever it prints later is fenced.
void Checker::check_output(const JobView& job) {
    for (const auto& attempt : job.attempts) {
        const AttemptKey key{job.id, attempt.epoch};
        const auto* run = parts_.witness.run_of(key);
        if (!run || !attempt.end || !attempt.end->reported) continue;
        if (parts_.output(key) == run->printed || says_that_some_is_missing(attempt)) continue;
        report("P9",
               fmt::format("{} epoch {} has ended ({}), and some of its output is lost",
                           job.id.text(), attempt.epoch.value, to_string(attempt.end->cause)));
    }
}

}  // namespace perdure::sim
