// Limits that are raised and lowered, queues that are paused and go on.
#include <utility>

#include "base/probe.h"
#include "sim/workloads/clients.h"

namespace perdure::sim {
namespace {

constexpr std::uint32_t limit_most = 4;
// After the last faults: by then whatever was under way has arrived.
constexpr auto until_all_has_arrived = seconds(15);

}  // namespace

// True: it was done.
Task<bool> Clients::define_limit(std::size_t client, DefineLimit limit) {
    const Permit permit{Permit::Kind::limit, limit.tenant, limit.name};
    const auto number = parts_.history.limits[permit].ask(limit.max);
    auto define = [limit](JobService& jobs) { return as_bool(jobs.define_limit(limit)); };
    auto answer = co_await ask<bool>(client, std::move(define));
    const bool done = answer && *answer;
    auto& wanted = parts_.history.limits[permit];
    if (done) wanted.acknowledge(number);
    if (answer && !done && !answer->is(Errc::outcome_unknown)) wanted.refuse(number);
    co_return done;
}

// True: it was done.
Task<bool> Clients::pause(std::size_t client, PauseQueue pause) {
    const std::pair queue{pause.tenant, pause.queue};
    auto& wanted = parts_.history.paused.try_emplace(queue, Wanted<bool>(false)).first->second;
    const auto number = wanted.ask(pause.paused);
    auto set = [pause](JobService& jobs) { return as_bool(jobs.pause(pause)); };
    auto answer = co_await ask<bool>(client, std::move(set));
    const bool done = answer && *answer;
    if (done) wanted.acknowledge(number);
    if (answer && !done && !answer->is(Errc::outcome_unknown)) wanted.refuse(number);
    co_return done;
}

Task<void> Clients::let_go_on(std::size_t client, PauseQueue queue) {
    queue.paused = false;
    for (bool done = false; !done;) {
        done = co_await pause(client, queue);
        if (!done) co_await parts_.world.sleep(lives_[client], milliseconds(700));
    }
}

Task<void> Clients::prepare_limits(std::size_t client) {
    for (const auto& tenant : parts_.plan.tenants) {
        const DefineLimit pool{tenant, "pool", pool_max};
        for (bool done = false; !done;) {
            done = co_await define_limit(client, pool);
            if (!done) co_await parts_.world.sleep(lives_[client], milliseconds(500));
        }
    }
}

Task<void> Clients::change_settings(std::size_t client) {
    const auto& plan = parts_.plan;
    const bool is_late = parts_.world.now() >= TrueTime{plan.faults_end.us};
    const auto tenant = draw_tenant();
    if (plan.limits_change && rng_.chance(0.5)) {
        const auto max = static_cast<std::uint32_t>(rng_.between(1, limit_most));
        const DefineLimit pool{tenant, "pool", max};
        const bool done = co_await define_limit(client, pool);
        if (done) reached<"limit_changed">();
    }
    if (!plan.queues_pause || is_late || !rng_.chance(0.5)) co_return;
    const PauseQueue queue{tenant, draw_of(plan.queues), true};
    const bool done = co_await pause(client, queue);
    if (done) reached<"queue_paused">();
    co_await parts_.world.sleep(lives_[client], rng_.between(milliseconds(100), seconds(12)));
    co_await let_go_on(client, queue);
}

// Whoever pauses lets go on; but a pause may arrive after that.
Task<void> Clients::let_all_go_on(std::size_t client, TrueTime faults_end) {
    const auto wait = Duration{faults_end.us} + until_all_has_arrived;
    co_await parts_.world.sleep(lives_[client], wait);
    for (const auto& tenant : parts_.plan.tenants)
        for (const auto& name : parts_.plan.queues) {
            const PauseQueue queue{tenant, name, false};
            if (parts_.history.may_be_paused(tenant, name)) co_await let_go_on(client, queue);
        }
}

}  // namespace perdure::sim
