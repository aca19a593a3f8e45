// Connections: the open sockets of this server, each with the instant at which it is cut off. One
// look a second serves all of them, so that a request costs no timer.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <list>
#include <memory>

#include "base/time.h"
#include "ports/task.h"

namespace perdure {

// TCP or a unix socket.
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;

struct Connection {
    explicit Connection(Socket s) : socket(std::move(s)) {}

    static constexpr BootTime never{INT64_MAX};
    Socket socket;
    BootTime deadline = never;
    bool timed_out = false;  // what it was doing has been cancelled for that
    bool is_idle = false;    // between two requests
};

class Connections {
public:
    using Place = std::list<std::shared_ptr<Connection>>::iterator;

    Place add(std::shared_ptr<Connection> connection) {
        return open_.insert(open_.end(), std::move(connection));
    }
    void remove(Place place) { open_.erase(place); }
    std::size_t size() const { return open_.size(); }

    void cut_off_overdue(BootTime now) {
        for (const auto& connection : open_)
            if (connection->deadline <= now) cut_off(*connection);
    }
    // Those that have nothing under way.
    void cut_off_idle() {
        for (const auto& connection : open_)
            if (connection->is_idle) cut_off(*connection);
    }

private:
    static void cut_off(Connection& connection) {
        connection.timed_out = true;
        connection.deadline = Connection::never;
        boost::system::error_code ignored;
        connection.socket.cancel(ignored);
    }
    std::list<std::shared_ptr<Connection>> open_;
};

}  // namespace perdure
