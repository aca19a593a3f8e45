#include "server/settling.h"

#include "core/custom_policy.h"

namespace perdure {

AttemptEnd judged(const RunView& run, const AttemptEnd& end) {
    return judged(end, judging_policy(run), nullptr);
}

Next next_after(const RunView& run, const AttemptEnd& end) {
    return decide_next({.end = end,
                        .policy = judging_policy(run),
                        .effects = run.spec->effects,
                        .counts = with(run.counts, end),
                        .cancel_requested = run.order == Cause::cancelled,
                        .attempt = run.attempt});
}

Sighting sighting_of(const OverdueRun& overdue, const RecoveryDecision& decision,
                     const ServiceTick& clock) {
    const bool silent_start = decision.detector == Detector::confirmation;
    const auto last_sign = silent_start ? overdue.claimed_at : overdue.heard_at;
    return {
        .detector = decision.detector, .rule = decision.rule, .silent_for = clock.now - last_sign};
}

Settle settle(const RunView& run, const AttemptEnd& end, std::optional<Settle::Renewal> renewal,
              const Sighting& seen) {
    const auto known = judged(run, end);
    return {.attempt = run.attempt,
            .state = run.state,
            .renewal = renewal,
            .end = known,
            .next = next_after(run, known),
            .seen = seen};
}

}  // namespace perdure
