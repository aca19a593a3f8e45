#include "server/settling.h"

namespace perdure {

Next next_after(const RunView& run, const AttemptEnd& end) {
    return decide_next({.end = end,
                        .policy = run.spec->policy,
                        .effects = run.spec->effects,
                        .counts = with(run.counts, end),
                        .cancel_requested = run.order == Cause::cancelled,
                        .attempt = run.attempt});
}

Settle settle(const RunView& run, const AttemptEnd& end, std::optional<Settle::Renewal> renewal) {
    return {.attempt = run.attempt,
            .state = run.state,
            .renewal = renewal,
            .end = end,
            .next = next_after(run, end)};
}

}  // namespace perdure
