// StderrLog: one line for each event, for people and for log collectors.
//   time=2026-11-15T09:30:00.250000Z level=warn component=server event="attempt lost" job=...
// The form is logfmt: values with spaces, quotes or `=` stand in quotes, and control characters are
// escaped, so that nothing that a job or a peer has said can forge a line. A line is one write.
// For programs that read logs the same fields make a JSON object on one line.
// A line that cannot be written is dropped: there is nobody left to tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/time.h"

namespace perdure {

enum class LogForm { logfmt, json };

class StderrLog final : public LogSink {
public:
    static constexpr int standard_error = 2;

    explicit StderrLog(Level least, int descriptor = standard_error, LogForm form = LogForm::logfmt)
        : least_(least), descriptor_(descriptor), form_(form) {}

    bool wants(Level level) const override { return level >= least_; }
    void write(Level level, std::string_view component, std::string_view event,
               const std::vector<Field>& fields) override;

private:
    Level least_;
    int descriptor_;
    LogForm form_;
};

struct LogEvent {
    WallTime at;
    Level level = Level::info;
    std::string_view component;
    std::string_view event;
    const std::vector<Field>& fields;
};
// The line, with its line feed.
std::string logfmt(const LogEvent& event);
std::string log_json(const LogEvent& event);

}  // namespace perdure
