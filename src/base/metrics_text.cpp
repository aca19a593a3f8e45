#include "base/metrics_text.h"

#include <fmt/format.h>

#include <iterator>

namespace perdure {
namespace {

std::string_view to_string(MetricType type) {
    switch (type) {
        case MetricType::counter: return "counter";
        case MetricType::gauge: return "gauge";
        case MetricType::histogram: return "histogram";
    }
    return "untyped";
}

}  // namespace

void MetricsText::family(std::string_view name, MetricType type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   to_string(type));
}

void MetricsText::append_label(std::string_view name, std::string_view value) {
    text_ += name;
    text_ += "=\"";
    for (const char c : value) {
        if (c == '\n') {
            text_ += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') text_ += '\\';
        text_ += c;
    }
    text_ += '"';
}

void MetricsText::append_name(std::string_view suffix, Labels labels, std::string_view bound) {
    text_ += name_;
    text_ += suffix;
    char before = '{';
    for (const auto& [name, value] : labels) {
        text_ += std::exchange(before, ',');
        append_label(name, value);
    }
    if (!bound.empty()) {
        text_ += std::exchange(before, ',');
        append_label("le", bound);
    }
    text_ += before == '{' ? " " : "} ";
}

void MetricsText::sample(Labels labels, std::uint64_t value) {
    append_name("", labels);
    fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void MetricsText::sample(Labels labels, double value) {
    append_name("", labels);
    fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void MetricsText::sample(Labels labels, const Histogram& times) {
    auto into = std::back_inserter(text_);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < Histogram::bounds.size(); ++i) {
        sum += times.within()[i];
        append_name("_bucket", labels, fmt::format("{}", Histogram::bounds[i]));
        fmt::format_to(into, "{}\n", sum);
    }
    append_name("_bucket", labels, "+Inf");
    fmt::format_to(into, "{}\n", times.count());
    append_name("_sum", labels);
    fmt::format_to(into, "{}\n", times.seconds());
    append_name("_count", labels);
    fmt::format_to(into, "{}\n", times.count());
}

}  // namespace perdure
