// Plan: a run's expanded configuration: everything that a seed decides before the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/job/turns.h"
#include "core/ownership/claim.h"
#include "core/ownership/timing.h"
#include "core/policy/policy_book.h"
#include "sim/faults.h"
#include "sim/world/rng.h"

namespace perdure::sim {

enum class Mode { safety, liveness };
constexpr std::string_view to_string(Mode mode) {
    return mode == Mode::safety ? "safety" : "liveness";
}

// Which implementation of the store is behind the simulated connections.
enum class StoreKind { memory, sqlite };
constexpr std::string_view to_string(StoreKind store) {
    return store == StoreKind::memory ? "memory" : "sqlite";
}

inline constexpr std::string_view poison_kind = "poison";      // the store cannot take such a job
inline constexpr std::string_view unserved_kind = "unserved";  // no worker lists it by name
inline constexpr std::uint32_t pool_max = 2;  // at first, of the limit `pool` that some jobs name

struct Plan {
    std::uint64_t seed = 0;
    Mode mode = Mode::safety;
    StoreKind store = StoreKind::memory;
    std::size_t pipeline_min_jobs = 1;  // what the store says of itself: small groups wait
    std::size_t lane_max = 0;           // rows that may wait for a commit; zero: as in production
    // The rows are far away, and a group loads some no more often than this. Zero: they are near.
    std::uint32_t loads_max = 0;
    Timing timing;
    std::uint32_t servers = 1;
    std::uint32_t workers = 1;
    std::uint32_t clients = 2;
    std::uint32_t slots = 2;
    // What clients submit: each of these with each.
    std::vector<std::string> tenants = {"default"};
    std::vector<std::string> queues = {"default"};
    std::vector<std::string> kinds = {"work"};
    std::vector<std::string> shares = {""};
    QueueWeights weights;
    bool has_backlogs = false;    // many jobs at once in one queue; all have the same priority
    std::vector<Offer> offers;    // of the workers, by number; a story's take everything
    bool limits_change = false;   // clients raise and lower them
    bool queues_pause = false;    // clients pause queues, and always let them go on
    bool retention_ends = false;  // within the run
    FaultSet faults;
    double accidents_per_minute = 6;
    double message_fault = 0.01;  // loss and duplication, each
    double store_fault = 0.01;    // aborts and unknown outcomes, each
    Duration submit_every = seconds(4);
    Duration job_max = seconds(25);
    Duration length = minutes(2);
    Duration faults_end = minutes(2);  // liveness: the frozen set from here on
    bool all_hints_dropped = false;
    // No accident of this run can cost an owner its lease: whoever is given up was given up by us.
    bool owners_are_safe = false;
    PolicyBook book;  // some workers have a policy of their own

    Offer offer_of(std::size_t worker) const {
        return worker < offers.size() ? offers[worker] : Offer{};
    }
    bool has(Fault fault) const { return faults.test(static_cast<std::size_t>(fault)); }
    std::string text() const;
};

// `masked` are classes that a shrinker has switched off.
Plan draw_plan(std::uint64_t seed, Mode mode, const FaultSet& masked = {});

}  // namespace perdure::sim
