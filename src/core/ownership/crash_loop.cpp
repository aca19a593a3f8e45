#include "core/ownership/crash_loop.h"

#include <algorithm>

#include "base/zoo.h"

namespace perdure {
namespace {

constexpr std::size_t begins_with = 3;        // crashes in a minute
constexpr std::size_t spares_nobody_at = 10;  // crashes in a row
constexpr std::size_t kept_max = 16;
constexpr auto window = minutes(1);

// The first crash that was the third in a minute; all later ones are further ones.
std::optional<std::size_t> beginning(const std::vector<BootTime>& crashes) {
    for (auto last = begins_with - 1; last < crashes.size(); ++last)
        if (crashes[last] - crashes[last + 1 - begins_with] <= window) return last;
    return std::nullopt;
}

// A second run would be one too many, or the job's end: such a one is suspected last of all.
bool must_not_be_repeated(const CrashWitness& witness) {
    return witness.effects != Effects::repeatable || witness.policy == PolicyName::never;
}

}  // namespace

std::vector<BootTime> crashes_in_a_row(std::vector<BootTime> crashes, BootTime now) {
    std::sort(crashes.begin(), crashes.end());
    auto next = now;
    auto first = crashes.end();
    while (first != crashes.begin() && next - *std::prev(first) <= window) next = *--first;
    crashes.erase(crashes.begin(), first);
    if (crashes.size() > kept_max) crashes.erase(crashes.begin(), crashes.end() - kept_max);
    return crashes;
}

CrashLoopDecision decide_crash_loop(const CrashHistory& h, const Timing& timing) {
    if (timing.probation_step == Duration{}) return {.rule = "O9/switched_off"};
    const auto began = beginning(h.crashes);
    if (!began) return {.rule = "O9/start_normally"};
    const bool spares_nobody = h.crashes.size() >= spares_nobody_at;
    const bool further =
        *began + 1 < h.crashes.size() && h.follows_a_crash && !zoo(Bug::crash_loop_goes_unjudged);
    return {.on_probation = true,
            .ends_one = further,
            .spares_nobody = spares_nobody,
            .rule = further ? "O9/end_one" : "O9/probation"};
}

CulpritDecision decide_culprit(const CulpritFacts& f) {
    std::optional<CrashWitness> youngest;
    bool spared = false;
    for (const auto& witness : f.ran) {
        if (!witness.alive) continue;
        if (must_not_be_repeated(witness) && !f.spares_nobody) {
            spared = true;
            continue;
        }
        if (!youngest || youngest->age() < witness.age()) youngest = witness;
    }
    if (!youngest) return {.rule = spared ? "O9/spared" : "O9/nothing_runs"};
    const bool alone = f.ran.size() == 1 || zoo(Bug::suspect_is_charged);
    if (alone) return {youngest->attempt, Cause::crash_worker, "O9/ran_alone"};
    return {youngest->attempt, Cause::suspect, "O9/youngest"};
}

SlotDecision decide_slots(const SlotFacts& f, const Timing& timing) {
    if (!f.on_probation) return {f.slots, "O9/start_normally"};
    const auto steps = static_cast<std::uint64_t>(f.alive_for.us / timing.probation_step.us);
    auto doublings = steps + f.good_ends;
    std::uint64_t extra = f.spares_nobody ? 0 : 1;
    if (extra == 0 && doublings > 0) {
        extra = 1;
        --doublings;
    }
    while (doublings-- > 0 && extra < f.slots) extra *= 2;
    if (extra >= f.slots) return {f.slots, "O9/probation_is_over"};
    const auto offered = std::min<std::uint64_t>(f.slots, f.adopted + extra);
    return {static_cast<std::uint32_t>(offered), "O9/probation"};
}

bool is_good_end(const AttemptEnd& end) {
    return end.ran == Ran::yes && (end.succeeded || is_own_exit(end.cause));
}

}  // namespace perdure
