#include "base/histogram.h"

namespace perdure {

void Histogram::add(Duration took) {
    const auto seconds = took.seconds();
    ++count_;
    seconds_ += seconds;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        if (seconds > bounds[i]) continue;
        ++within_[i];
        return;
    }
}

}  // namespace perdure
