// Faults: classes of accidents, each switched on or off for a whole run by the seed (swarm), and
// the rates that the run draws. `Plan` is a run's expanded configuration.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/policy_book.h"
#include "core/timing.h"
#include "sim/world/rng.h"

namespace perdure::sim {

enum class Fault {
    // processes
    kill_worker,
    kill_watchdog,  // together with its worker
    kill_shim,
    kill_server,
    pause_worker,
    pause_host,
    pause_server,
    reboot_host,
    drain_worker,
    shim_fails,  // to launch
    // network
    slow_network,
    lose_message,
    duplicate_message,
    cut_one_way,
    cut_both_ways,
    reset_stream,
    // store
    abort_group,
    unknown_outcome,
    slow_store,
    decide_late,  // a server is held up between its decision and the commit
    store_down,
    fail_over,
    poison_request,  // one that the store cannot take
    // clocks
    drift,
    step_wall_clock,
    // jobs
    crash,
    hang,
    kill_own_worker,
    ignore_sigterm,
    own_failure,
};
inline constexpr std::size_t fault_count = 30;

inline constexpr std::array<std::string_view, fault_count> fault_names = {
    "kill_worker",  "kill_watchdog", "kill_shim",         "kill_server",    "pause_worker",
    "pause_host",   "pause_server",  "reboot_host",       "drain_worker",   "shim_fails",
    "slow_network", "lose_message",  "duplicate_message", "cut_one_way",    "cut_both_ways",
    "reset_stream", "abort_group",   "unknown_outcome",   "slow_store",     "decide_late",
    "store_down",   "fail_over",     "poison_request",    "drift",          "step_wall_clock",
    "crash",        "hang",          "kill_own_worker",   "ignore_sigterm", "own_failure",
};
constexpr std::string_view to_string(Fault fault) {
    return fault_names[static_cast<std::size_t>(fault)];
}

enum class Mode { safety, liveness };
constexpr std::string_view to_string(Mode mode) {
    return mode == Mode::safety ? "safety" : "liveness";
}

using FaultSet = std::bitset<fault_count>;

inline constexpr std::string_view poison_kind = "poison";  // the store cannot take such a job
inline constexpr std::uint32_t pool_max = 2;  // of the limit `pool` that some jobs name

// Everything that a seed decides before the run.
struct Plan {
    std::uint64_t seed = 0;
    Mode mode = Mode::safety;
    Timing timing;
    std::uint32_t servers = 1;
    std::uint32_t workers = 1;
    std::uint32_t clients = 2;
    std::uint32_t slots = 2;
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

    bool has(Fault fault) const { return faults.test(static_cast<std::size_t>(fault)); }
    std::string text() const;
};

// `masked` are classes that a shrinker has switched off.
Plan draw_plan(std::uint64_t seed, Mode mode, const FaultSet& masked = {});

}  // namespace perdure::sim
