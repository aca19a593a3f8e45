#include "core/storage/reserve.h"

#include <algorithm>

namespace perdure {

std::uint64_t reserve_of(const SpaceFacts& facts) {
    return std::min(facts.reserve, facts.disk_bytes / 20);
}

SpaceDecision decide_space(const SpaceFacts& facts) {
    if (facts.free_bytes < reserve_of(facts))
        return {SpaceDecision::Kind::refuse_submits, "P11/reserve_of_space"};
    return {};
}

}  // namespace perdure
