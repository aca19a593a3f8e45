#include "sim/world/sim_network.h"

namespace perdure::sim {

SimNetwork::SimNetwork(World& world, const Plan& plan)
    : world_(world), plan_(plan), rng_(world.split_rng()) {}

Duration SimNetwork::delay() {
    const bool slow = faults_on_ && plan_.has(Fault::slow_network) && rng_.chance(0.05);
    if (slow) ++faults_;
    return slow ? rng_.skewed(milliseconds(10), seconds(3))
                : rng_.skewed(microseconds(100), milliseconds(5));
}

bool SimNetwork::loses() {
    const bool lost =
        faults_on_ && plan_.has(Fault::lose_message) && rng_.chance(plan_.message_fault);
    if (lost) ++faults_;
    return lost;
}

bool SimNetwork::duplicates() {
    const bool twice =
        faults_on_ && plan_.has(Fault::duplicate_message) && rng_.chance(plan_.message_fault);
    if (twice) ++faults_;
    return twice;
}

}  // namespace perdure::sim
