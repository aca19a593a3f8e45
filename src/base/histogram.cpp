#include "base/histogram.h"

#include <fmt/format.h>

#include <iterator>

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

void Histogram::append(std::string& out, std::string_view name, std::string_view labels) const {
    auto into = std::back_inserter(out);
    const auto* comma = labels.empty() ? "" : ",";
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        sum += within_[i];
        fmt::format_to(into, "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bounds[i],
                       sum);
    }
    fmt::format_to(into, "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, count_);
    const auto set = labels.empty() ? std::string() : fmt::format("{{{}}}", labels);
    fmt::format_to(into, "{}_sum{} {}\n{}_count{} {}\n", name, set, seconds_, name, set, count_);
}

}  // namespace perdure
