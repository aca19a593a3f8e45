#include "sim/plan.h"

#include <fmt/format.h>

#include "sim/workloads/draw_policies.h"

namespace perdure::sim {

namespace {

// Jobs in a group that does not wait: more than these runs ever have at once, as in production
// under little load.
constexpr std::size_t groups_that_wait = 20;

constexpr Fault costs_an_owner[] = {
    Fault::kill_worker,  Fault::kill_watchdog,  Fault::pause_worker, Fault::pause_host,
    Fault::pause_server, Fault::reboot_host,    Fault::deaf_worker,  Fault::drain_worker,
    Fault::slow_network, Fault::lose_message,   Fault::cut_one_way,  Fault::cut_both_ways,
    Fault::slow_store,   Fault::kill_own_worker};

std::vector<std::string> some_of(Rng& rng, const std::vector<std::string>& names) {
    std::vector<std::string> some;
    for (const auto& name : names)
        if (rng.chance(0.5)) some.push_back(name);
    if (some.empty()) some.push_back(names[rng.below(names.size())]);
    return some;
}

// Every tenant has one worker that takes all of its queues and kinds, said in either way; the
// others take what they happen to take.
void draw_shapes(Rng& rng, Plan& plan) {
    const std::vector<std::string> queues = {"default", "night", "mail"};
    const std::vector<std::string> kinds = {"work", "send", "count"};
    plan.queues.assign(queues.begin(), queues.begin() + rng.between(1, 3));
    plan.kinds.assign(kinds.begin(), kinds.begin() + rng.between(1, 3));
    if (plan.workers > 1 && rng.chance(0.5)) plan.tenants.push_back("other");
    for (std::uint32_t i = 0; i < plan.workers; ++i) {
        Offer offer{.tenant = plan.tenants[i % plan.tenants.size()], .queues = {}, .kinds = {}};
        const bool takes_all = i < plan.tenants.size();
        if (rng.chance(0.5)) offer.queues = takes_all ? plan.queues : some_of(rng, plan.queues);
        if (rng.chance(0.5)) offer.kinds = takes_all ? plan.kinds : some_of(rng, plan.kinds);
        plan.offers.push_back(std::move(offer));
    }
}

// E7. One slot has no time for backlogs besides all the rest, where everything must end.
void draw_turns(Rng& rng, Plan& plan) {
    const std::vector<std::string> shares = {"", "ann", "bob"};
    plan.shares.assign(shares.begin(), shares.begin() + rng.between(1, 3));
    for (const auto& queue : plan.queues)
        if (rng.chance(0.3))
            plan.weights.of_queue[queue] = static_cast<std::uint32_t>(rng.between(2, 3));
    plan.has_backlogs = plan.mode == Mode::safety && rng.chance(0.3);
}

void draw_settings(Rng& rng, Plan& plan) {
    plan.limits_change = rng.chance(0.5);
    plan.queues_pause = rng.chance(0.4);
    plan.retention_ends = rng.chance(0.4);
    if (!plan.retention_ends) return;
    // Longer than the time between two full checks: each end is seen before it may be gone.
    plan.timing.retention = rng.between(seconds(5), seconds(25));
    plan.timing.unresolved = rng.between(seconds(15), seconds(60));
}

}  // namespace

Plan draw_plan(std::uint64_t seed, Mode mode, const FaultSet& masked) {
    Rng rng(seed * 2 + (mode == Mode::liveness ? 1 : 0));
    Plan plan{.seed = seed, .mode = mode};
    plan.store = rng.chance(0.5) ? StoreKind::memory : StoreKind::sqlite;
    plan.pipeline_min_jobs = rng.chance(0.5) ? 1 : groups_that_wait;
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
    const bool long_hold = rng.chance(0.2);  // longer than what a job asks may wait
    // T4. Several servers share a store that dies with none of them.
    plan.timing.unwritten = rng.between(seconds(1), seconds(15));
    plan.timing.unwritten_before_due = rng.between(seconds(1), seconds(20));
    plan.timing.hold =
        long_hold ? rng.between(seconds(25), seconds(60)) : rng.between(seconds(3), seconds(25));
    // So short that several jobs that kill their worker can end within one run.
    plan.timing.probation_step = rng.between(seconds(2), seconds(10));
    plan.timing.suspect_alone = rng.between(seconds(2), seconds(20));
    plan.timing.drain = rng.between(seconds(1), seconds(10));
    plan.timing.kill_grace = rng.between(milliseconds(500), seconds(5));
    plan.timing.detach_lease = rng.between(seconds(10), seconds(30));
    // So short that it is tried again within the run.
    plan.timing.deaf_wait_max = rng.between(seconds(10), seconds(40));
    // Often shorter than a lease: who gives up asking is still alive then.
    plan.timing.progress_patience = rng.between(seconds(2), seconds(30));
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
    draw_shapes(rng, plan);
    draw_settings(rng, plan);
    // So few that what comes at once finds its lane full.
    if (rng.chance(0.2)) plan.lane_max = static_cast<std::size_t>(rng.between(1, 4));
    draw_turns(rng, plan);
    // Mostly next to nothing, so that a group owes what it cannot finish (C8).
    if (rng.chance(0.6)) plan.timing.group_room = static_cast<std::uint32_t>(rng.between(1, 4));
    if (rng.chance(0.5)) plan.loads_max = static_cast<std::uint32_t>(rng.between(1, 4));
    return plan;
}

std::string Plan::text() const {
    std::string on;
    for (std::size_t i = 0; i < fault_count; ++i)
        if (faults.test(i)) on += (on.empty() ? "" : " ") + std::string(fault_names[i]);
    std::string also;
    const auto add = [&](bool is_so, std::string_view what) {
        if (is_so) also += fmt::format(", {}", what);
    };
    add(pipeline_min_jobs > 1, "small groups wait");
    add(lane_max > 0, "lanes are short");
    add(loads_max > 0, fmt::format("rows are far away, {} loads", loads_max));
    add(limits_change, "limits change");
    add(queues_pause, "queues pause");
    add(shares.size() > 1, fmt::format("{} shares", shares.size()));
    add(!weights.of_queue.empty(), "weights");
    add(has_backlogs, "backlogs");
    add(retention_ends, fmt::format("retention ends after {:.1f} s, unresolved {:.1f} s",
                                    timing.retention.seconds(), timing.unresolved.seconds()));
    add(all_hints_dropped, "all hints dropped");
    add(owners_are_safe, "owners are safe");
    return fmt::format(
        "seed {} mode {}: {} store, {} servers, {} workers with {} slots, {} clients, {} tenants, "
        "{} queues, {} kinds, hold {:.1f} s, {:.1f} accidents a minute, message faults {:.3f}, "
        "store faults {:.3f}{}; faults: {}",
        seed, to_string(mode), to_string(store), servers, workers, slots, clients, tenants.size(),
        queues.size(), kinds.size(), timing.hold.seconds(), accidents_per_minute, message_fault,
        store_fault, also, on.empty() ? "none" : on);
}

}  // namespace perdure::sim
