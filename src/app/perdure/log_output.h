// LogOutput: where a process writes its log: standard error, or a file that is opened again on
// SIGHUP, so that it can be rotated away.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "config/config.h"
#include "platform/stderr_log.h"

namespace perdure {

class LogOutput {
public:
    // invalid: the file cannot be written.
    static Result<std::unique_ptr<LogOutput>> open(const Config& config);
    ~LogOutput();
    LogOutput(const LogOutput&) = delete;
    LogOutput& operator=(const LogOutput&) = delete;

    Log log(std::string component) { return Log(sink_, std::move(component)); }
    // The same name again. If that fails, the old file goes on.
    void reopen();

private:
    LogOutput(std::string file, int descriptor, Level level, LogForm form)
        : file_(std::move(file)), descriptor_(descriptor), sink_(level, descriptor, form) {}

    std::string file_;  // empty: standard error
    int descriptor_;
    StderrLog sink_;
};

}  // namespace perdure
