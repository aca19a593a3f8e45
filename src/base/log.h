// Structured log: an event name and fields, written to a sink that `main` chooses.
// Nothing is formatted unless the sink wants that level.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/level.h"

namespace perdure {

struct Field {
    std::string_view name;
    std::string value;
};

class LogSink {
public:
    virtual ~LogSink() = default;
    virtual bool wants(Level level) const = 0;
    virtual void write(Level level, std::string_view component, std::string_view event,
                       const std::vector<Field>& fields) = 0;
};

// A cheap handle to the sink with the name of the component that speaks.
class Log {
public:
    Log() = default;
    Log(LogSink& sink, std::string component) : sink_(&sink), component_(std::move(component)) {}

    // Values are formatted only if the sink wants them: log.write(Level::info, "claimed",
    // "job", id.text(), "epoch", 3).
    template <class... Pairs>
    void write(Level level, std::string_view event, const Pairs&... pairs) const {
        static_assert(sizeof...(pairs) % 2 == 0, "fields are pairs of name and value");
        if (!sink_ || !sink_->wants(level)) return;
        std::vector<Field> fields;
        fields.reserve(sizeof...(pairs) / 2);
        collect(fields, pairs...);
        sink_->write(level, component_, event, fields);
    }

private:
    static void collect(std::vector<Field>&) {}
    template <class Value, class... Rest>
    static void collect(std::vector<Field>& into, std::string_view name, const Value& value,
                        const Rest&... rest) {
        into.push_back({name, fmt::format("{}", value)});
        collect(into, rest...);
    }

    LogSink* sink_ = nullptr;
    std::string component_;
};

}  // namespace perdure
