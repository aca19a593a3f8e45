// Growing waits between tries: 100 ms, doubled up to a maximum (rule T3), half of it drawn, so
// that workers that lost the same server do not come back in step.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "ports/random.h"

namespace perdure {

class Backoff {
public:
    Backoff(Random& random, Duration max) : random_(random), max_(max) {}

    Duration next() {
        constexpr Duration first = milliseconds(100);
        step_ = std::min(step_.us == 0 ? first : step_ * 2, max_);
        const auto half = step_ / 2;
        const auto drawn = random_.below(static_cast<std::uint64_t>(half.us) + 1);
        return half + microseconds(static_cast<std::int64_t>(drawn));
    }
    void reset() { step_ = {}; }

private:
    Random& random_;
    Duration max_;
    Duration step_;
};

}  // namespace perdure
