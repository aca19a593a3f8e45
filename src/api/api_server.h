// ApiServer: the HTTP side of a server. Accepts connections on the server's own loop and has
// sessions answer them. It survives running out of descriptors and refuses what is too much.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <memory>

#include "api/api.h"
#include "api/http/connection.h"
#include "base/result.h"
#include "ports/gate.h"

namespace perdure {

class ApiServer {
public:
    ApiServer(Server& server, Catalogue& catalogue, Blobs& blobs, Clock& clock, Log log,
              ApiOptions options);
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    // Takes the port, and the socket if the options name one; call it once, before the loop runs or
    // on it. invalid: no such address, or it is not a loopback address. conflict: the port is
    // taken. The sentence says what to do.
    Result<void> listen();
    // The one it listens on, also if the options said 0.
    std::uint16_t port() const { return port_; }
    // Accepts nothing new, ends what waits, closes what is idle. What is under way is finished.
    void stop();
    // Nothing is under way any more.
    bool finished() const { return state_->connections.size() == 0 && gate_.empty(); }

private:
    using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor>;
    using SocketAcceptor =
        boost::asio::basic_socket_acceptor<boost::asio::local::stream_protocol, Executor>;
    // What connections share. Their frames may outlive this object.
    struct State {
        State(Server& server, Catalogue& catalogue, Blobs& blobs, Clock& clock, Log log,
              ApiOptions options)
            : api(std::make_shared<Api>(server, catalogue, blobs, clock, std::move(log),
                                        std::move(options))),
              watch(clock.make_alarm()) {}
        std::shared_ptr<Api> api;
        Connections connections;
        std::unique_ptr<Alarm> watch;  // of those who are cut off
    };

    // Both addresses of loopback, or refuses: `localhost` is either, and whoever had the other one
    // would get what is meant for us.
    Result<void> listen_on_both(const boost::asio::ip::tcp::endpoint& named);
    Result<void> listen_on_socket();
    template <class From>
    Task<void> accept_all(From& acceptor);
    void begin(std::shared_ptr<Connection> connection);
    Task<void> cut_off_overdue();
    static Task<void> serve_one(std::shared_ptr<State> state, std::shared_ptr<Connection> one);
    static Task<void> refuse_one(std::shared_ptr<State> state, std::shared_ptr<Connection> one);

    std::shared_ptr<State> state_;
    Acceptor acceptor_;
    Acceptor other_acceptor_;  // of the other family
    SocketAcceptor socket_acceptor_;
    std::unique_ptr<Alarm> pause_;
    std::uint16_t port_ = 0;
    Gate gate_;
};

}  // namespace perdure
