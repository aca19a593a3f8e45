// Rounds: a measure and its ceiling, taken one right after the other, again and again. A neighbour
// that takes a third of the machine for a while then takes it from both, or spoils one round; the
// round with the median ratio is the one that counts, and how far the others lie apart is told.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "base/result.h"

namespace perdure::bench {

// Figures a second of one round.
struct Compared {
    double reached = 0;
    double ceiling = 0;
    double other_ceiling = 0;  // another way to look at it; each measure says which

    double ratio() const { return ceiling > 0 ? reached / ceiling : 0; }
    double other_ratio() const { return other_ceiling > 0 ? reached / other_ceiling : 0; }
};

struct Rounds {
    Compared middle;  // a round as it was, not figures of several
    double least = 0;
    double most = 0;  // ratios
};

inline Rounds middle_of(std::vector<Compared> rounds) {
    if (rounds.empty()) return {};
    std::sort(rounds.begin(), rounds.end(),
              [](const Compared& a, const Compared& b) { return a.ratio() < b.ratio(); });
    return {rounds[rounds.size() / 2], rounds.front().ratio(), rounds.back().ratio()};
}

// `once` is told the number of the round. After the first one it ends early if `enough` says so.
inline Result<Rounds> compare(std::size_t rounds,
                              const std::function<Result<Compared>(std::size_t)>& once,
                              const std::function<bool()>& enough = {}) {
    std::vector<Compared> all;
    for (std::size_t i = 0; i < rounds && (i == 0 || !enough || !enough()); ++i) {
        auto round = once(i);
        if (!round) return round.error();
        all.push_back(*round);
    }
    return middle_of(std::move(all));
}

}  // namespace perdure::bench
