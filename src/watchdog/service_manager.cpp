#include "watchdog/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "watchdog/positive_number.h"

namespace perdure {
ServiceManager::ServiceManager(std::string_view socket, std::optional<Duration> watchdog_limit) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const bool known = socket.starts_with('/') || socket.starts_with('@');
    if (!known || socket.size() < 2 || socket.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, socket.data(), socket.size());
    // The abstract namespace has a zero in front, and every byte counts.
    if (socket.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
    const int made = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return;
    if (::connect(made, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
        ::close(made);
        return;
    }
    socket_ = made;
    watchdog_limit_ = watchdog_limit;
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), watchdog_limit_(other.watchdog_limit_) {}

ServiceManager& ServiceManager::operator=(ServiceManager&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(watchdog_limit_, other.watchdog_limit_);
    return *this;
}

ServiceManager::~ServiceManager() {
    if (socket_ >= 0) ::close(socket_);
}

ServiceManager ServiceManager::from_environment() {
    const auto* socket = std::getenv(notify_variable);
    if (!socket) return {};
    std::optional<Duration> limit;
    const auto pid = positive_number(std::getenv(watchdog_pid_variable));
    const auto us = positive_number(std::getenv(watchdog_time_variable));
    if (us && (!pid || *pid == ::getpid())) limit = Duration{*us};
    return {socket, limit};
}

void ServiceManager::send(std::string_view line) {
    if (socket_ >= 0) (void)::send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace perdure
