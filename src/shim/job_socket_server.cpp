#include "shim/job_socket_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "shim/listener.h"

namespace perdure {

int JobSocketServer::open(const char* name) { return listen_at(name, listener_); }

void JobSocketServer::close() {
    listener_.reset();
    connections_.clear();
}

void JobSocketServer::watch(std::vector<pollfd>& into) const {
    if (listener_ && connections_.size() < connections_max)
        into.push_back({listener_.get(), POLLIN, 0});
    for (const auto& connection : connections_) {
        short events = 0;
        const bool idle = !connection->waits && connection->out.empty();
        if (idle && !connection->more) events |= POLLIN;
        // What has been read and not served is served as soon as others had their turn.
        if (!connection->out.empty() || (idle && connection->more)) events |= POLLOUT;
        into.push_back({connection->fd.get(), events, 0});
    }
}

void JobSocketServer::serve(const pollfd& ready, JobRequests& requests) {
    if (listener_ && ready.fd == listener_.get()) return accept_one();
    for (const auto& connection : connections_) {
        if (connection->fd.get() != ready.fd) continue;
        if (ready.revents & POLLOUT) write_to(*connection);
        if (ready.revents & POLLIN) read_from(*connection);
        // Who hangs up without having left anything to read waits for no answer.
        if ((ready.revents & (POLLHUP | POLLERR)) && !(ready.revents & POLLIN))
            connection->gone = true;
        understand(*connection, requests);
        break;
    }
    drop_gone(requests);
}

void JobSocketServer::accept_one() {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    auto connection = std::make_unique<Connection>();
    connection->number = ++last_number_;
    connection->fd = std::move(fd);
    connections_.push_back(std::move(connection));
}

void JobSocketServer::read_from(Connection& connection) {
    std::array<char, 16 * 1024> block;
    const auto got = ::recv(connection.fd.get(), block.data(), block.size(), 0);
    if (got > 0) {
        connection.in.append(block.data(), static_cast<std::size_t>(got));
        connection.more = true;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        connection.gone = true;
    }
}

void JobSocketServer::understand(Connection& connection, JobRequests& requests) {
    if (connection.gone || connection.waits || connection.closing || !connection.out.empty())
        return;
    auto parsed = parse_request(connection.in);
    connection.more = parsed.request.has_value();
    if (!parsed.problem.empty()) {
        connection.closing = true;
        connection.out = "error invalid " + parsed.problem + "\n";
    } else if (parsed.request) {
        connection.in.erase(0, parsed.consumed);
        connection.waits = true;
        const auto answer = requests.on_request(connection.number, std::move(*parsed.request));
        if (!answer) return;
        connection.waits = false;
        connection.out = *answer + "\n";
    }
    write_to(connection);
}

void JobSocketServer::write_to(Connection& connection) {
    if (connection.out.empty()) return;
    const auto done = ::send(connection.fd.get(), connection.out.data(), connection.out.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno != EAGAIN && errno != EINTR) connection.gone = true;
    if (done > 0) connection.out.erase(0, static_cast<std::size_t>(done));
    if (connection.closing && connection.out.empty()) connection.gone = true;
}

void JobSocketServer::answer(std::uint64_t number, std::string_view line) {
    for (const auto& connection : connections_) {
        if (connection->number != number || !connection->waits) continue;
        connection->waits = false;
        connection->out.append(line).append(1, '\n');
        write_to(*connection);
    }
}

void JobSocketServer::drop_gone(JobRequests& requests) {
    for (const auto& connection : connections_)
        if (connection->gone && connection->waits) requests.on_hang_up(connection->number);
    std::erase_if(connections_, [](const auto& connection) { return connection->gone; });
}

}  // namespace perdure
