// [P5] The ledger is complete: no attempt follows another, and nothing is in quarantine, without an
// entry that says why.
#include <fmt/format.h>

#include <algorithm>

#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

bool has_entry(const std::vector<Recovery>& entries, Epoch epoch, bool (*fits)(Repair)) {
    return std::any_of(entries.begin(), entries.end(), [&](const Recovery& entry) {
        return entry.attempt.epoch == epoch && fits(entry.repair);
    });
}

bool is_quarantine(Repair repair) { return repair == Repair::quarantined; }

}  // namespace

void Checker::ledger(const AuditView& audit, const Ledger& entries) {
    static const std::vector<Recovery> none;
    for (const auto& job : audit.jobs) {
        const auto found = entries.find(job.id);
        const auto& own = found == entries.end() ? none : found->second;
        for (std::size_t i = 0; i + 1 < job.attempts.size(); ++i) {
            const auto& before = job.attempts[i];
            const bool followed = job.attempts[i + 1].generation == before.generation;
            if (followed && !has_entry(own, before.epoch, runs_again))
                report("P5", fmt::format("{} was run again after epoch {}, and the ledger does not "
                                         "say why",
                                         job.id.text(), before.epoch.value));
        }
        const bool quarantined = job.state == JobState::quarantined && !job.attempts.empty();
        if (quarantined && !has_entry(own, job.attempts.back().epoch, is_quarantine))
            report("P5", job.id.text() + " is in quarantine, and the ledger does not say why");
        for (const auto& entry : own)
            if (entry.attempt.epoch > job.epoch)
                report("P5", fmt::format("the ledger has an epoch of {} that was never given out",
                                         job.id.text()));
    }
}

// E2: a release without a person's word is given only when the old process is known to be dead.
void Checker::check_release(const JobView& job, std::uint32_t generation_before) {
    const bool released =
        generation_before != 0 && job.generation > generation_before && !has_ended(job.state);
    if (!released || parts_.history.flagged_releases.contains(job.id)) return;
    for (const auto* run : parts_.witness.of(job.id)) {
        const bool old = !run->died && !run->orphan && run->attempt.epoch <= job.epoch;
        if (old && !job.run)
            report("E2", fmt::format("{} was released while its epoch {} was alive", job.id.text(),
                                     run->attempt.epoch.value));
    }
}

}  // namespace perdure::sim
