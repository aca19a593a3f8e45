#include "store/engine/rows/history.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "store/engine/failure.h"
#include "store/engine/rows/codec.h"

namespace perdure::store {

namespace {

constexpr std::uint32_t read_at_once_max = 1'000;

std::string checkpoint_of(JobReader& reader, const JobRow& job, const AttemptRow& attempt) {
    switch (attempt.checkpoint.where) {
        case BlobRef::Where::here: return attempt.checkpoint.bytes;
        case BlobRef::Where::apart: return reader.large({job.id, attempt.epoch}, Large::checkpoint);
        case BlobRef::Where::nowhere: break;
    }
    fail_corrupt("an attempt that has saved a checkpoint has none");
}

// Zero: nobody has saved one.
std::string checkpoint_of(JobReader& reader, const JobRow& job, Epoch saved) {
    if (saved == Epoch{}) return {};
    if (const auto* attempt = job.attempt(saved)) return checkpoint_of(reader, job, *attempt);
    return checkpoint_of(reader, job, read_history(reader, job, saved, saved.next()).front());
}

// The latest attempt before this one that saved a checkpoint; zero: none did. For the newest and
// the one that will be next it is carried (E4).
Epoch saved_before(JobReader& reader, const JobRow& job, Epoch epoch) {
    const bool is_next = !job.attempts.empty() && epoch == job.epoch.next();
    if (is_next && job.attempts.back().checkpoint.is_there()) return job.epoch;
    if (job.earlier && (is_next || epoch == job.epoch)) return job.earlier->checkpoint;
    return latest_checkpoint(reader, job, epoch);
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
    if (job.has_history) return;
    auto earlier = read_history(reader, job, Epoch{1}, job.attempts.front().epoch);
    for (auto& attempt : job.older) earlier[attempt.epoch.value - 1] = std::move(attempt);
    job.older.clear();
    job.attempts.insert(job.attempts.begin(), std::make_move_iterator(earlier.begin()),
                        std::make_move_iterator(earlier.end()));
    job.has_history = true;
}

// However many there are between it and the newest: it is read alone.
AttemptRow* find_attempt(JobReader& reader, JobRow& job, Epoch epoch) {
    if (auto* found = job.attempt(epoch)) return found;
    if (epoch > job.epoch || epoch == Epoch{}) return nullptr;
    auto alone = read_history(reader, job, epoch, epoch.next());
    if (alone.empty()) return nullptr;
    return &job.older.emplace_back(std::move(alone.front()));
}

Epoch latest_checkpoint(JobReader& reader, const JobRow& job, Epoch before) {
    const auto latest_of = [&](const std::vector<AttemptRow>& attempts) {
        const auto found = std::find_if(
            attempts.rbegin(), attempts.rend(),
            [&](const AttemptRow& a) { return a.epoch < before && a.checkpoint.is_there(); });
        return found == attempts.rend() ? Epoch{} : found->epoch;
    };
    auto latest = latest_of(job.attempts);
    auto end = job.attempts.empty() ? Epoch{} : std::min(before, job.attempts.front().epoch);
    while (latest == Epoch{} && end.value > 1) {
        const Epoch from{end.value > read_at_once_max ? end.value - read_at_once_max : 1};
        latest = latest_of(read_history(reader, job, from, end));
        end = from;
    }
    return latest;
}

std::string checkpoint_before(JobReader& reader, const JobRow& job, Epoch epoch) {
    if (job.spec->effects == Effects::once || epoch.value <= 1) return {};  // it begins anew
    return checkpoint_of(reader, job, saved_before(reader, job, epoch));
}

std::string checkpoint_for(JobReader& reader, const JobRow& job, Epoch epoch,
                           const EarlierAttempts& earlier) {
    if (job.spec->effects == Effects::once || epoch.value <= 1) return {};  // it begins anew
    return checkpoint_of(reader, job, earlier.checkpoint);
}

EvidenceRef evidence_of(JobReader& reader, JobId job, const AttemptRow& attempt) {
    if (!attempt.evidence.is_there()) return nullptr;
    const bool here = attempt.evidence.where == BlobRef::Where::here;
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
