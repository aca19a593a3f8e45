// The only randomness of a simulation: xoshiro256**, split from the seed into one stream for each
// purpose, so that a new draw in one place does not shift all others.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "ports/random.h"

namespace perdure::sim {

class Rng final : public Random {
public:
    explicit Rng(std::uint64_t seed) {
        for (auto& word : state_) word = split_mix(seed);
    }

    std::uint64_t next() override {
        const auto result = rotate(state_[1] * 5, 7) * 9;
        const auto t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    Rng split() { return Rng(next()); }
    bool chance(double p) { return uniform() < p; }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }
    Duration between(Duration low, Duration high) { return {between(low.us, high.us)}; }
    // Mostly near `low`, sometimes near `high`: three uniform draws multiplied.
    Duration skewed(Duration low, Duration high) {
        const auto f = uniform() * uniform() * uniform();
        return low + Duration{static_cast<std::int64_t>(f * static_cast<double>((high - low).us))};
    }

private:
    static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    static std::uint64_t split_mix(std::uint64_t& seed) {
        seed += 0x9e3779b97f4a7c15ULL;
        auto z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    std::array<std::uint64_t, 4> state_;
};

}  // namespace perdure::sim
