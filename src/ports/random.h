// Random: the only source of randomness. Drawn from entropy in production, from the seed in the
// simulator.
#pragma once

#include <cstdint>

namespace perdure {

class Random {
public:
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;

    // Uniform in [0, bound); bound must not be zero.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

}  // namespace perdure
