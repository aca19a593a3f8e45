#include "store/engine/rows/history.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "store/engine/failure.h"
#include "store/engine/rows/codec.h"

namespace perdure::store {

void load_history(JobReader& reader, JobRow& job) {
    if (job.has_history) return;
    auto earlier = reader.history(job.id, job.attempts.front().epoch);
    std::uint32_t epoch = 0;
    for (const auto& attempt : earlier)
        if (attempt.epoch.value != ++epoch) fail_corrupt("an attempt is missing");
    if (job.attempts.front().epoch.value != epoch + 1) fail_corrupt("an attempt is missing");
    job.attempts.insert(job.attempts.begin(), std::make_move_iterator(earlier.begin()),
                        std::make_move_iterator(earlier.end()));
    job.has_history = true;
}

AttemptRow* find_attempt(JobReader& reader, JobRow& job, Epoch epoch) {
    if (auto* found = job.attempt(epoch)) return found;
    if (epoch > job.epoch) return nullptr;
    load_history(reader, job);
    return job.attempt(epoch);
}

std::string checkpoint_before(JobReader& reader, JobRow& job, Epoch epoch) {
    if (job.spec->effects == Effects::once || epoch.value <= 1) return {};  // it begins anew
    load_history(reader, job);
    const auto found = std::find_if(
        job.attempts.rbegin(), job.attempts.rend(),
        [&](const AttemptRow& a) { return a.epoch < epoch && a.checkpoint.is_there(); });
    if (found == job.attempts.rend()) return {};
    if (found->checkpoint.where == Kept::Where::here) return found->checkpoint.bytes;
    return reader.large({job.id, found->epoch}, Large::checkpoint);
}

EvidenceRef evidence_of(JobReader& reader, JobId job, const AttemptRow& attempt) {
    if (!attempt.evidence.is_there()) return nullptr;
    const bool here = attempt.evidence.where == Kept::Where::here;
    return std::make_shared<const Evidence>(decode_evidence(
        here ? attempt.evidence.bytes : reader.large({job, attempt.epoch}, Large::evidence)));
}

std::vector<Input> inputs_of(RelationReader& reader, const JobRow& job) {
    std::vector<Input> inputs;
    if (!has_awaited(*job.spec)) return inputs;
    for (auto& view : reader.awaited(job.id))
        if (view.ended) inputs.push_back(std::move(*view.ended));
    return within_limit(std::move(inputs));
}

}  // namespace perdure::store
