#include "core/worker/sign_of_life.h"

#include <algorithm>

namespace perdure {

bool decide_sign_of_life(std::span<const ChildLoopFacts> children) {
    return std::ranges::all_of(children, [](const ChildLoopFacts& child) {
        return !child.ready || child.stopping || child.alive;
    });
}

}  // namespace perdure
