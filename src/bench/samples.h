// Samples: single measurements in milliseconds, and what they come to.
// A quantile of nothing is 0.
#pragma once

#include <algorithm>
#include <vector>

namespace perdure::bench {

struct Spread {
    double p50 = 0;
    double p99 = 0;
};

class Samples {
public:
    void add(double milliseconds) { all_.push_back(milliseconds); }
    std::size_t size() const { return all_.size(); }

    Spread spread() {
        std::sort(all_.begin(), all_.end());
        return {quantile(0.50), quantile(0.99)};
    }

private:
    double quantile(double part) const {
        if (all_.empty()) return 0;
        const auto last = static_cast<double>(all_.size() - 1);
        return all_[static_cast<std::size_t>(part * last + 0.5)];
    }

    std::vector<double> all_;
};

}  // namespace perdure::bench
