#include "watchdog/watched.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "base/exit_code.h"
#include "watchdog/positive_number.h"

namespace perdure {
namespace {

constexpr std::int64_t descriptor_max = 1'000'000;

}  // namespace

WatchdogLink watchdog_link(const char* channel, const char* alive_every) {
    WatchdogLink link;
    const auto number = positive_number(channel);
    if (number && *number > STDERR_FILENO && *number <= descriptor_max)
        link.channel = static_cast<int>(*number);
    if (const auto us = positive_number(alive_every)) link.alive_every = Duration{*us};
    return link;
}

Watched::Watched(boost::asio::io_context& context, const WatchdogLink& link)
    : alive_every_(link.alive_every), alive_timer_(context) {
    if (!link.channel) return;
    // Shims outlive us and must not look like us to the watchdog.
    ::fcntl(*link.channel, F_SETFD, FD_CLOEXEC);
    channel_.emplace(context, *link.channel);
}

void Watched::ready(std::string_view words) {
    if (!channel_) return;
    const auto line = fmt::format("ready {}\n", words);
    // A few bytes into an empty socket: they fit, or the watchdog has gone.
    (void)::send(channel_->native_handle(), line.data(), line.size(), MSG_NOSIGNAL);
    if (alive_every_) send_alive();
}

void Watched::send_alive() {
    constexpr std::string_view line = "alive\n";
    // A watchdog that does not read must not stop the loop; it has enough of these lines.
    (void)::send(channel_->native_handle(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    alive_timer_.expires_after(std::chrono::microseconds(alive_every_->us));
    alive_timer_.async_wait([this](const boost::system::error_code& code) {
        if (!code) send_alive();
    });
}

void Watched::end_with_watchdog() {
    if (!channel_) return;
    // The watchdog never writes: readable means that its end is closed.
    channel_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [](const boost::system::error_code& code) {
                             if (!code) ::_exit(static_cast<int>(ExitCode::failed));
                         });
}

}  // namespace perdure
