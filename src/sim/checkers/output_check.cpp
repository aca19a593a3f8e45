// What is kept of what attempts print: a beginning of it, byte by byte; and nothing more of an
// attempt that is not its job's any more [P2].
#include <fmt/format.h>

#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

// A server looks whose the attempt is, and keeps its piece in a second transaction: between the two
// it may be given away. TODO(soon): check it when the two are one.
constexpr bool fenced_output_is_checked = false;

// A worker gives output up 2 s after an end, and nothing on the attempt says so. TODO(soon): check
// it when the attempt does.
constexpr bool all_output_is_checked = false;
bool says_that_some_is_missing(const AttemptView&) { return false; }

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
    const auto job = known_.find(chunk.attempt.job);
    const bool fenced = job != known_.end() && job->second.epoch > chunk.attempt.epoch;
    if (fenced && fenced_output_is_checked)
        report("P2", what + " is kept after the job was claimed anew");
}

// An attempt whose end was accepted has all of its output kept, or says that it has not.
void Checker::check_output(const JobView& job) {
    if (!all_output_is_checked) return;
    for (const auto& attempt : job.attempts) {
        const AttemptKey key{job.id, attempt.epoch};
        const auto* run = parts_.witness.run_of(key);
        if (!run || !attempt.end || !attempt.end->reported) continue;
        if (parts_.output(key) == run->printed || says_that_some_is_missing(attempt)) continue;
        report("P9", fmt::format("{} epoch {} has ended, and some of its output is lost",
                                 job.id.text(), attempt.epoch.value));
    }
}

}  // namespace perdure::sim
