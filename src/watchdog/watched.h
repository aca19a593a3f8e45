// Watched: the child's side of a watchdog. Says that it is ready, and ends with its watchdog.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace perdure {

class Watched {
public:
    // `channel`: the number from the environment; nothing: nobody watches, and nothing happens.
    Watched(boost::asio::io_context& context, std::optional<int> channel);

    // `words`: what the watchdog shall know besides, on one line.
    void ready(std::string_view words);
    // From now on: when the watchdog has gone, this process exits at once. There is nobody left
    // who would start it again, and the path after a crash is the one that is tested most.
    void end_with_watchdog();

private:
    std::optional<boost::asio::posix::stream_descriptor> channel_;
};

// The number that the watchdog has put into the environment; nothing if the text is none.
std::optional<int> watchdog_channel(const std::string& variable);

}  // namespace perdure
