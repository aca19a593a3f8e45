// MetricsText: the text format of Prometheus, written family by family. Numbers stay where they are
// kept and are read once, when somebody asks; a metrics library would want to own them.
// Every family has a sentence of help, and a label's value may be any text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.h"

namespace perdure {

enum class MetricType { counter, gauge, histogram };

class MetricsText {
public:
    using Label = std::pair<std::string_view, std::string_view>;
    using Labels = std::initializer_list<Label>;

    // Begins a family; its samples follow. A family without samples is still explained.
    void family(std::string_view name, MetricType type, std::string_view help);
    void sample(Labels labels, std::uint64_t value);
    void sample(Labels labels, double value);
    void sample(Labels labels, const Histogram& times);

    // A family of one sample.
    template <class Value>
    void single(std::string_view name, MetricType type, std::string_view help, const Value& value) {
        family(name, type, help);
        sample({}, value);
    }

    std::string take() { return std::move(text_); }

private:
    void append_name(std::string_view suffix, Labels labels, std::string_view bound = {});
    void append_label(std::string_view name, std::string_view value);

    std::string text_;
    std::string name_;
};

}  // namespace perdure
