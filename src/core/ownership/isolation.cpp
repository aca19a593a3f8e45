#include "core/ownership/isolation.h"

#include <algorithm>

#include "base/zoo.h"

namespace perdure {

Terms decide_terms(const IsolationFacts& f, const Timing& timing) {
    const bool once = f.effects == Effects::once;
    Terms terms{.effects = f.effects};
    if (f.holds_key_or_limit) {
        terms.isolation = Isolation::exclusive;
        terms.hold = f.hold.value_or(once ? timing.hold : Duration{});
        terms.release_after = terms.hold;
        terms.rule = "O7/exclusive";
    } else if (once) {
        terms.hold = f.hold.value_or(timing.hold);
        terms.release_after = terms.hold;
        terms.rule = "O7/once";
    } else {
        terms.hold = f.hold.value_or(timing.hold);
        terms.rule = "O7/fenced";
    }
    const bool may_overlap = terms.isolation == Isolation::fenced;
    terms.asks = !(may_overlap && f.effects == Effects::repeatable);
    if (zoo(Bug::start_at_once_for_exclusive) && !once) terms.asks = false;
    return terms;
}

LeaseKill decide_lease_kill(const LeaseKillFacts& f, const Timing& timing) {
    if (f.epoch_is_stale) return {BootTime{}, "O7/stale_epoch"};
    const auto hold_ends = f.lease_until + f.terms.hold;
    if (f.terms.isolation == Isolation::exclusive) {
        if (zoo(Bug::no_self_kill_of_exclusive)) return {std::nullopt, "O7/exclusive"};
        return {hold_ends - timing.kill_margin, "O7/exclusive"};
    }
    if (f.terms.effects == Effects::once) return {std::nullopt, "O7/once"};
    // A silent worker counts as gone, but its last lease is still good.
    const auto worker_gone = std::max(f.worker_heard_at + timing.worker_silence, f.lease_until);
    if (worker_gone < hold_ends) return {worker_gone, "O7/worker_gone"};
    return {hold_ends, "O7/hold_over"};
}

}  // namespace perdure
