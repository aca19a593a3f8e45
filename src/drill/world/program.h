// Program: `perdure up`, `server` or `worker` as a real process with its watchdog, started for a
// drill. Destroyed, it is gone with everything that it has started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "testbed/child.h"

namespace perdure::drill {

class Program {
public:
    // The words after `perdure`. Returns when it says that it is ready.
    static Result<std::unique_ptr<Program>> start(const std::vector<std::string>& words,
                                                  const std::string& log);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    std::uint16_t port() const { return port_; }  // of a server
    pid_t watchdog() const { return child_->pid(); }
    // The process that the watchdog keeps; 0: there is none just now.
    pid_t server() const;
    pid_t worker() const;
    // The watchdog, what it keeps, and with a worker the shims and processes of its jobs.
    std::vector<pid_t> everything() const;

    // As a power cut would: all at once.
    void kill_everything();
    // The watchdog and what it keeps, and nothing else: shims and jobs live on.
    void kill_own_processes();
    // SIGTERM, as a person would, without waiting.
    void ask_to_stop() const { child_->signal(15); }
    bool has_ended() const { return child_->has_ended(); }

private:
    Program(std::unique_ptr<Child> child, std::string log)
        : child_(std::move(child)), log_(std::move(log)) {}
    Result<void> wait_until_ready(std::size_t log_before);

    std::unique_ptr<Child> child_;
    std::string log_;
    std::uint16_t port_ = 0;
};

}  // namespace perdure::drill
