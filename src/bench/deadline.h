// Deadline: when a measure gives up. Whatever can last long looks at it.
#pragma once

#include <algorithm>

#include "testbed/stopwatch.h"

namespace perdure::bench {

class Deadline {
public:
    explicit Deadline(double seconds) : limit_s_(seconds) {}

    double left_s() const { return std::max(0.0, limit_s_ - watch_.seconds()); }
    bool is_over() const { return left_s() <= 0; }
    double limit_s() const { return limit_s_; }

private:
    double limit_s_;
    Stopwatch watch_;
};

}  // namespace perdure::bench
