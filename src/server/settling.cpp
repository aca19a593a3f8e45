#include "server/settling.h"

#include "core/custom_policy.h"

namespace perdure {

AttemptEnd judged(const RunView& run, const AttemptEnd& end) {
    return judged(end, run.spec->policy, nullptr);
}

Next next_after(const RunView& run, const AttemptEnd& end) {
    return decide_next({.end = end,
                        .policy = run.spec->policy,
                        .effects = run.spec->effects,
                        .counts = with(run.counts, end),
                        .cancel_requested = run.order == Cause::cancelled,
                        .attempt = run.attempt});
}

Settle settle(const RunView& run, const AttemptEnd& end, std::optional<Settle::Renewal> renewal) {
    const auto known = judged(run, end);
    return {.attempt = run.attempt,
            .state = run.state,
            .renewal = renewal,
            .end = known,
            .next = next_after(run, known)};
}

}  // namespace perdure
