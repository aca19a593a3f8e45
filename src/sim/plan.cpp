#include "sim/plan.h"

#include <fmt/format.h>

#include "sim/workloads/draw_policies.h"

namespace perdure::sim {

namespace {

// Jobs in a group that does not wait: more than these runs ever have at once, as in production
// under little load.
constexpr std::size_t groups_that_wait = 20;

constexpr Fault costs_an_owner[] = {
    Fault::kill_worker,    Fault::kill_watchdog, Fault::pause_worker,  Fault::pause_host,
    Fault::pause_server,   Fault::reboot_host,   Fault::drain_worker,  Fault::slow_network,
    Fault::lose_message,   Fault::cut_one_way,   Fault::cut_both_ways, Fault::slow_store,
    Fault::kill_own_worker};

}  // namespace

Plan draw_plan(std::uint64_t seed, Mode mode, const FaultSet& masked) {
    Rng rng(seed * 2 + (mode == Mode::liveness ? 1 : 0));
    Plan plan{.seed = seed, .mode = mode};
    plan.store = rng.chance(0.5) ? StoreKind::memory : StoreKind::sqlite;
    plan.worth_sending_ahead = rng.chance(0.5) ? 1 : groups_that_wait;
    plan.servers = static_cast<std::uint32_t>(rng.between(1, 3));
    plan.workers = static_cast<std::uint32_t>(rng.between(1, 6));
    plan.clients = static_cast<std::uint32_t>(rng.between(1, 3));
    plan.slots = static_cast<std::uint32_t>(rng.between(1, 4));
    for (std::size_t i = 0; i < fault_count; ++i) plan.faults.set(i, rng.chance(0.5));
    plan.accidents_per_minute = 1.0 + 15.0 * rng.uniform() * rng.uniform();
    plan.message_fault = 0.001 + 0.2 * rng.uniform() * rng.uniform();
    plan.store_fault = 0.001 + 0.1 * rng.uniform() * rng.uniform();
    plan.submit_every = rng.between(milliseconds(500), seconds(6));
    // Short, so that an owner that is lost is lost for good within the run.
    plan.timing.hold = rng.between(seconds(3), seconds(25));
    // So short that several jobs that kill their worker can end within one run.
    plan.timing.crash_rest = rng.between(seconds(2), seconds(10));
    plan.timing.drain = rng.between(seconds(1), seconds(10));
    plan.timing.kill_grace = rng.between(milliseconds(500), seconds(5));
    plan.timing.detach_lease = rng.between(seconds(10), seconds(30));
    plan.all_hints_dropped = rng.chance(0.2);
    if (mode == Mode::liveness) {
        plan.length = minutes(5);
        plan.faults_end = seconds(100);
        // What is asked must be possible: even one slot has time for all of it in the end, for what
        // batches and callbacks add, too.
        plan.submit_every = seconds(7) * plan.clients;
        plan.job_max = seconds(10);
    }
    plan.owners_are_safe = rng.chance(0.15);
    if (plan.owners_are_safe)
        for (const auto fault : costs_an_owner) plan.faults.reset(static_cast<std::size_t>(fault));
    plan.faults &= ~masked;
    plan.book = draw_book(rng, plan.workers);
    return plan;
}

std::string Plan::text() const {
    std::string on;
    for (std::size_t i = 0; i < fault_count; ++i)
        if (faults.test(i)) on += (on.empty() ? "" : " ") + std::string(fault_names[i]);
    return fmt::format(
        "seed {} mode {}: {} store, {} servers, {} workers with {} slots, {} clients, hold {:.1f} "
        "s, "
        "{:.1f} accidents a minute, message faults {:.3f}, store faults {:.3f}{}; faults: {}",
        seed, to_string(mode), to_string(store), servers, workers, slots, clients,
        timing.hold.seconds(), accidents_per_minute, message_fault, store_fault,
        std::string(worth_sending_ahead > 1 ? ", small groups wait" : "") +
            (all_hints_dropped ? ", all hints dropped" : "") +
            (owners_are_safe ? ", owners are safe" : ""),
        on.empty() ? "none" : on);
}

}  // namespace perdure::sim
