#include "watchdog/watched.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "base/exit_code.h"

namespace perdure {

Watched::Watched(boost::asio::io_context& context, std::optional<int> channel) {
    if (!channel) return;
    // Shims outlive us and must not look like us to the watchdog.
    ::fcntl(*channel, F_SETFD, FD_CLOEXEC);
    channel_.emplace(context, *channel);
}

void Watched::ready(std::string_view words) {
    if (!channel_) return;
    const auto line = fmt::format("ready {}\n", words);
    // A few bytes into an empty socket: they fit, or the watchdog has gone.
    (void)::send(channel_->native_handle(), line.data(), line.size(), MSG_NOSIGNAL);
}

void Watched::end_with_watchdog() {
    if (!channel_) return;
    // The watchdog never writes: readable means that its end is closed.
    channel_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [](const boost::system::error_code& code) {
                             if (!code) ::_exit(static_cast<int>(ExitCode::failed));
                         });
}

std::optional<int> watchdog_channel(const std::string& variable) {
    int number = 0;
    const auto* end = variable.data() + variable.size();
    const auto read = std::from_chars(variable.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 3) return std::nullopt;
    return number;
}

}  // namespace perdure
