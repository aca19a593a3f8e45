// ServiceManager: tells the manager that started this process (systemd, or another one that speaks
// the protocol of sd_notify(3)) how it is: datagrams of `NAME=VALUE` lines to a socket that the
// environment names. Without such a manager everything here does nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

// What a manager puts into the environment. It is for this process alone, not for its children.
inline constexpr const char* notify_variable = "NOTIFY_SOCKET";
inline constexpr const char* watchdog_time_variable = "WATCHDOG_USEC";
inline constexpr const char* watchdog_pid_variable = "WATCHDOG_PID";

class ServiceManager {
public:
    // Nobody.
    ServiceManager() = default;
    // `socket`: a path, or `@NAME` in the abstract namespace; anything else is nobody.
    ServiceManager(std::string_view socket, std::optional<Duration> watchdog_limit);
    ServiceManager(ServiceManager&& other) noexcept;
    ServiceManager& operator=(ServiceManager&& other) noexcept;
    ~ServiceManager();

    // As the environment says. A watchdog limit for another process, or no number, is none.
    static ServiceManager from_environment();

    // How long it waits for a sign of life before it takes this process for hung.
    std::optional<Duration> watchdog_limit() const { return watchdog_limit_; }

    void ready() { send("READY=1"); }
    void stopping() { send("STOPPING=1"); }
    void alive() { send("WATCHDOG=1"); }

private:
    // Never waits: a manager that does not read is no reason to stand still.
    void send(std::string_view line);

    int socket_ = -1;
    std::optional<Duration> watchdog_limit_;
};

}  // namespace perdure
