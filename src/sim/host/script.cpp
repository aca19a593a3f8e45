#include "sim/host/script.h"

#include <algorithm>

namespace perdure::sim {

namespace {

// A little now and then, or a lot at once; often right before the end.
void draw_prints(Rng& rng, Script& script) {
    const auto count = rng.between(1, 6);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = rng.chance(0.3) ? script.length - milliseconds(1)
                                        : rng.between(Duration{}, script.length);
        const auto most = rng.chance(0.2) ? 2'000 : 60;
        script.prints.push_back(
            {std::max(at, Duration{}),
             1 + static_cast<std::uint32_t>(rng.below(static_cast<std::uint64_t>(most)))});
    }
}

}  // namespace

Script draw_script(Rng& rng, const Plan& plan) {
    using End = Script::End;
    Script script{.length = rng.skewed(milliseconds(5), plan.job_max)};
    // Long ones are many where accidents never end, and few where one slot must do it all in time.
    const bool hurried = plan.mode == Mode::liveness;
    if (rng.chance(hurried ? 0.05 : 0.2))
        script.length = rng.between(plan.job_max / 2, plan.job_max);
    const auto kind = rng.below(20);
    if (kind == 0 && plan.has(Fault::crash)) script.end = End::crash;
    if (kind == 1 && plan.has(Fault::hang)) script.end = End::hang;
    if (kind == 2 && plan.has(Fault::kill_own_worker)) script.end = End::kill_worker;
    if (plan.has(Fault::own_failure)) {
        if (kind == 3) script.end = End::fail;
        if (kind == 4) script.end = End::conflict;
        if (kind == 5) script.end = End::disconnected;
    }
    if (script.end != End::succeed && rng.chance(0.5))
        script.bad_attempts = static_cast<std::uint32_t>(rng.between(1, 4));
    // What fails for ever and may be tried for ever never ends, and leaves no slot for others.
    if (hurried) script.bad_attempts = std::min(script.bad_attempts, 4U);
    if (script.end == End::disconnected) script.bad_attempts = 2;
    script.ignores_sigterm = plan.has(Fault::ignore_sigterm) && rng.chance(0.2);
    script.forks = rng.chance(0.2);
    if (plan.mode == Mode::safety && rng.chance(0.03)) script.length = seconds(60);
    if (rng.chance(0.5)) script.checkpoint_at = script.length / 4;
    if (rng.chance(0.5)) script.begin_after = rng.between(milliseconds(1), milliseconds(500));
    if (rng.chance(0.5)) draw_prints(rng, script);
    return script;
}

}  // namespace perdure::sim
