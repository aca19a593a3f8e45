// History: what clients asked and were answered. Checkers compare by id, never by count.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/job.h"
#include "ports/changes.h"
#include "sim/world/world.h"

namespace perdure::sim {

struct SubmitHistory {
    JobSpec spec;
    std::set<JobId> accepted;   // every id that was ever answered: must be one
    std::uint32_t sent = 0;     // how often it was asked
    std::uint32_t refused = 0;  // how often the answer was a definite no
};

struct CancelHistory {
    Epoch epoch;  // nothing newer may start after the answer
    std::uint32_t generation = 0;
};

// Fewer, and a run has shown nothing.
inline constexpr std::uint64_t accepted_least = 5;
inline constexpr std::size_t succeeded_least = 1;  // of few, most may have been meant to fail

struct History {
    std::map<std::string, SubmitHistory> submits;    // by idempotency key
    std::map<JobId, CancelHistory> cancels;          // acknowledged
    std::map<JobId, std::uint32_t> releases;         // by a person: sent, perhaps not applied
    std::set<JobId> flagged_releases;                // those that said "may still run"
    std::map<JobId, std::set<std::uint32_t>> added;  // numbers of added callbacks: acknowledged
    std::uint64_t accepted = 0;
    std::uint64_t operations = 0;

    // May this job exist? Only if somebody asked for it and was not told that it does not.
    bool may_exist(const JobSpec& spec) const {
        if (spec.callback_of) return true;  // an end has made it; check_parent() asks which
        const auto found = submits.find(spec.idempotency_key.value_or(""));
        if (found == submits.end()) return false;
        const auto& submit = found->second;
        return !submit.accepted.empty() || submit.refused < submit.sent;
    }
};

// A broken promise.
struct Violation {
    std::string promise;
    std::string what;
};

}  // namespace perdure::sim
