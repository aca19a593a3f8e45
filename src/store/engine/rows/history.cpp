#include "store/engine/rows/history.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "store/engine/failure.h"
#include "store/engine/rows/codec.h"

namespace perdure::store {

namespace {

void load_since(JobReader& reader, JobRow& job, Epoch from) {
    auto earlier = read_history(reader, job, from, job.attempts.front().epoch);
    job.attempts.insert(job.attempts.begin(), std::make_move_iterator(earlier.begin()),
                        std::make_move_iterator(earlier.end()));
    job.has_history = job.attempts.front().epoch.value <= 1;
}

std::string checkpoint_of(JobReader& reader, const JobRow& job, const AttemptRow& attempt) {
    switch (attempt.checkpoint.where) {
        case Kept::Where::here: return attempt.checkpoint.bytes;
        case Kept::Where::apart: return reader.large({job.id, attempt.epoch}, Large::checkpoint);
        case Kept::Where::nowhere: break;
    }
    fail_corrupt("an attempt that has saved a checkpoint has none");
}

// Zero: nobody has saved one.
std::string checkpoint_of(JobReader& reader, const JobRow& job, Epoch saved) {
    if (saved == Epoch{}) return {};
    if (const auto* attempt = job.attempt(saved)) return checkpoint_of(reader, job, *attempt);
    return checkpoint_of(reader, job, read_history(reader, job, saved, saved.next()).front());
}

}  // namespace

std::vector<AttemptRow> read_history(JobReader& reader, const JobRow& job, Epoch from,
                                     Epoch before) {
    const auto end = std::min(before, job.attempts.front().epoch);
    if (from >= end) return {};
    auto found = reader.history(job.id, from, end);
    auto epoch = from;
    for (const auto& attempt : found) {
        if (attempt.epoch != epoch) fail_corrupt("an attempt is missing");
        epoch = epoch.next();
    }
    if (epoch != end) fail_corrupt("an attempt is missing");
    return found;
}

std::vector<AttemptRow> attempts_in(JobReader& reader, const JobRow& job, AttemptWindow window) {
    if (job.attempts.empty()) return {};
    const auto end = std::min(window.before, job.epoch.next());
    const Epoch first{end.value > window.max ? end.value - window.max : 1};
    auto found = read_history(reader, job, first, end);
    for (const auto& attempt : job.attempts)
        if (attempt.epoch >= first && attempt.epoch < end) found.push_back(attempt);
    return found;
}

void load_history(JobReader& reader, JobRow& job) {
    if (!job.has_history) load_since(reader, job, Epoch{1});
}

AttemptRow* find_attempt(JobReader& reader, JobRow& job, Epoch epoch) {
    if (auto* found = job.attempt(epoch)) return found;
    if (epoch > job.epoch || epoch == Epoch{}) return nullptr;
    if (!job.has_history) load_since(reader, job, epoch);
    return job.attempt(epoch);
}

Epoch latest_checkpoint(JobReader& reader, JobRow& job, Epoch before) {
    load_history(reader, job);
    const auto found = std::find_if(
        job.attempts.rbegin(), job.attempts.rend(),
        [&](const AttemptRow& a) { return a.epoch < before && a.checkpoint.is_there(); });
    return found == job.attempts.rend() ? Epoch{} : found->epoch;
}

std::string checkpoint_before(JobReader& reader, JobRow& job, Epoch epoch) {
    if (job.spec->effects == Effects::once || epoch.value <= 1) return {};  // it begins anew
    if (epoch == job.epoch && job.earlier)
        return checkpoint_of(reader, job, job.earlier->checkpoint);
    return checkpoint_of(reader, job, latest_checkpoint(reader, job, epoch));
}

std::string checkpoint_for(JobReader& reader, const JobRow& job, Epoch epoch,
                           const EarlierAttempts& earlier) {
    if (job.spec->effects == Effects::once || epoch.value <= 1) return {};  // it begins anew
    return checkpoint_of(reader, job, earlier.checkpoint);
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
