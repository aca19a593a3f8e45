// Entropy: randomness from the kernel, one call for each number. Nothing is kept in between, so
// that a forked or cloned process never repeats what another one has drawn.
#pragma once

#include "ports/random.h"

namespace perdure {

class Entropy final : public Random {
public:
    std::uint64_t next() override;
};

}  // namespace perdure
