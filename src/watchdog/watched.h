// Watched: the child's side of a watchdog. Says that it is ready and that its loop turns, and ends
// with its watchdog.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

struct WatchdogLink {
    std::optional<int> channel;           // empty: nobody watches, and nothing happens
    std::optional<Duration> alive_every;  // empty: nobody wants to know
};
// From the variables of child_process.h; null: it is not set.
WatchdogLink watchdog_link(const char* channel, const char* alive_every);

class Watched {
public:
    Watched(boost::asio::io_context& context, const WatchdogLink& link);

    // `words`: what the watchdog shall know besides, on one line. From now on it is told, too, that
    // the loop turns, by the loop.
    void ready(std::string_view words);
    // From now on: when the watchdog has gone, this process exits at once. There is nobody left
    // who would start it again, and the path after a crash is the one that is tested most.
    void end_with_watchdog();

private:
    void send_alive();

    std::optional<Duration> alive_every_;
    boost::asio::steady_timer alive_timer_;
    std::optional<boost::asio::posix::stream_descriptor> channel_;
};

}  // namespace perdure
