// History: what clients asked and were answered. Checkers compare by id, never by count.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/job/job.h"
#include "core/ownership/claim.h"
#include "ports/changes.h"
#include "sim/checkers/wanted.h"
#include "sim/world/world.h"

namespace perdure::sim {

// C5: the same key in another tenant is another job.
struct SubmitKey {
    std::string tenant;
    std::string key;
    friend auto operator<=>(const SubmitKey&, const SubmitKey&) = default;
};
inline SubmitKey submit_key(const JobSpec& spec) {
    return {spec.tenant, spec.idempotency_key.value_or("")};
}

struct SubmitHistory {
    JobSpec spec;
    std::set<JobId> accepted;          // every id that was ever answered: must be one
    std::uint32_t sent = 0;            // how often it was asked
    std::optional<TrueTime> asked_at;  // for the first time
    std::uint32_t refused = 0;         // how often the answer was a definite no
    bool gone = false;                 // it was answered that its job has ended and was removed

    void note_sent(TrueTime now) {
        ++sent;
        if (!asked_at) asked_at = now;
    }
};

struct CancelHistory {
    Epoch epoch;  // nothing newer may start after the answer
    std::uint32_t generation = 0;
};

// Fewer, and a run has shown little. A sound one may: its only client may have met nothing but
// outages. A campaign counts such runs, and many of them are a failure of the campaign.
inline constexpr std::uint64_t accepted_least = 5;
inline constexpr std::size_t succeeded_least = 1;  // of few, most may have been meant to fail

struct History {
    std::map<SubmitKey, SubmitHistory> submits;
    std::map<JobId, CancelHistory> cancels;          // acknowledged
    std::map<JobId, std::uint32_t> releases;         // by a person: sent, perhaps not applied
    std::set<JobId> dealt_with;                      // in whatever way: sent, perhaps not applied
    std::set<JobId> flagged_releases;                // those that said "may still run"
    std::map<JobId, std::set<std::uint32_t>> added;  // numbers of added callbacks: acknowledged
    std::map<Permit, Wanted<std::uint32_t>> limits;  // what they allow
    std::map<std::pair<std::string, std::string>, Wanted<bool>> paused;  // by tenant and queue
    std::uint64_t accepted = 0;
    std::uint64_t operations = 0;

    // May this job exist? Only if somebody asked for it and was not told that it does not.
    bool may_exist(const JobSpec& spec) const {
        if (spec.callback_of) return true;  // an end has made it; check_parent() asks which
        const auto found = submits.find(submit_key(spec));
        if (found == submits.end()) return false;
        const auto& submit = found->second;
        return !submit.accepted.empty() || submit.gone || submit.refused < submit.sent;
    }
    // The most, and the least, that a limit may allow now. A key allows one.
    std::pair<std::uint32_t, std::uint32_t> most_and_least(const Permit& permit) const {
        if (permit.kind == Permit::Kind::key) return {1, 1};
        const auto found = limits.find(permit);
        if (found == limits.end()) return {0, 0};
        const auto possible = found->second.possible();
        if (possible.empty()) return {0, 0};
        const auto [least, most] = std::minmax_element(possible.begin(), possible.end());
        return {*most, *least};
    }
    // It is certain that nothing may be claimed from it.
    bool is_paused(const JobSpec& spec) const {
        const auto possible = pauses_of(spec.tenant, spec.queue);
        return !possible.empty() &&
               std::find(possible.begin(), possible.end(), false) == possible.end();
    }
    bool may_be_paused(const std::string& tenant, const std::string& queue) const {
        const auto possible = pauses_of(tenant, queue);
        return std::find(possible.begin(), possible.end(), true) != possible.end();
    }

private:
    std::vector<bool> pauses_of(const std::string& tenant, const std::string& queue) const {
        const auto found = paused.find({tenant, queue});
        return found == paused.end() ? std::vector<bool>{} : found->second.possible();
    }
};

// A broken promise.
struct Violation {
    std::string promise;
    std::string what;
};

}  // namespace perdure::sim
