// Faults: classes of accidents, each switched on or off for a whole run by the seed (swarm).
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

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
    deaf_worker,  // it is heard, and starts nothing for a while
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
    slow_disk,       // of a host: what its shims write is durable late
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
inline constexpr std::size_t fault_count = 32;

inline constexpr std::array<std::string_view, fault_count> fault_names = {
    "kill_worker",
    "kill_watchdog",
    "kill_shim",
    "kill_server",
    "pause_worker",
    "pause_host",
    "pause_server",
    "reboot_host",
    "deaf_worker",
    "drain_worker",
    "shim_fails",
    "slow_network",
    "lose_message",
    "duplicate_message",
    "cut_one_way",
    "cut_both_ways",
    "reset_stream",
    "abort_group",
    "unknown_outcome",
    "slow_store",
    "decide_late",
    "store_down",
    "fail_over",
    "poison_request",
    "slow_disk",
    "drift",
    "step_wall_clock",
    "crash",
    "hang",
    "kill_own_worker",
    "ignore_sigterm",
    "own_failure",
};
constexpr std::string_view to_string(Fault fault) {
    return fault_names[static_cast<std::size_t>(fault)];
}

using FaultSet = std::bitset<fault_count>;

}  // namespace perdure::sim
