#include "core/ownership/keeper.h"

namespace perdure {

KeeperDecision decide_keeper(const KeeperFacts& f, const Timing& timing) {
    using Kind = KeeperDecision::Kind;
    const auto deadline = f.clock.now + timing.keeper;
    if (f.role.holder == f.me && f.role.holder)
        return {Kind::renew, {f.me, f.role.epoch, deadline}, "keeper/renew"};
    const bool vacant = !f.role.holder || f.clock.now >= f.role.deadline;
    if (!vacant) return {Kind::wait, f.role, "keeper/held"};
    return {Kind::take, {f.me, f.role.epoch + 1, deadline}, "keeper/vacant"};
}

}  // namespace perdure
