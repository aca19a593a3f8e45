#include "app/perdure/log_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace perdure {
namespace {

int open_for_appending(const std::string& file) {
    return open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

}  // namespace

Result<std::unique_ptr<LogOutput>> LogOutput::open(const Config& config) {
    int descriptor = StderrLog::standard_error;
    if (!config.log_file.empty()) {
        descriptor = open_for_appending(config.log_file);
        if (descriptor < 0)
            return error(Errc::invalid, "the log " + config.log_file + " cannot be written: " +
                                            std::strerror(errno) + "; change log.file");
    }
    const auto form = config.log_format == LogFormat::json ? LogForm::json : LogForm::logfmt;
    return std::unique_ptr<LogOutput>(
        new LogOutput(config.log_file, descriptor, config.log_level, form));
}

LogOutput::~LogOutput() {
    if (!file_.empty()) close(descriptor_);
}

void LogOutput::reopen() {
    if (file_.empty()) return;
    const int fresh = open_for_appending(file_);
    if (fresh < 0) return;
    // The number stays, so that nobody who writes needs to know.
    dup3(fresh, descriptor_, O_CLOEXEC);
    close(fresh);
}

}  // namespace perdure
