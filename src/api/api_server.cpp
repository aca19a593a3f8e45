#include "api/api_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <optional>
#include <utility>

#include "api/http/problem.h"
#include "api/serve_connection.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int ports_tried_max = 16;

// Every connection is a descriptor; what the system allows us, we take.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

Result<tcp::endpoint> endpoint_of(const ApiOptions& options) {
    boost::system::error_code failure;
    const auto name = options.address == "localhost" ? "127.0.0.1" : options.address;
    const auto address = asio::ip::make_address(name, failure);
    if (failure)
        return error(Errc::invalid, fmt::format("`{}` is no address to listen on: write an IP "
                                                "address like 127.0.0.1 or ::1",
                                                options.address));
    if (!address.is_loopback() && !options.without_protection)
        return error(Errc::invalid,
                     fmt::format("{} can be reached from other machines, and there is no TLS yet: "
                                 "listen on 127.0.0.1",
                                 options.address));
    return tcp::endpoint(address, options.port);
}

// The same host by the other family, as far as that is one address.
std::optional<asio::ip::address> other_loopback(const asio::ip::address& named) {
    if (named == asio::ip::address_v4::loopback()) return asio::ip::address_v6::loopback();
    if (named == asio::ip::address_v6::loopback()) return asio::ip::address_v4::loopback();
    return std::nullopt;
}

// A kernel without that family, or an interface without that address.
bool is_not_there(const boost::system::error_code& failure) {
    return failure == asio::error::address_family_not_supported ||
           failure.value() == EADDRNOTAVAIL || failure.value() == EPROTONOSUPPORT;
}

template <class Acceptor>
boost::system::error_code listen_at(Acceptor& acceptor, const tcp::endpoint& endpoint) {
    boost::system::error_code failure;
    acceptor.open(endpoint.protocol(), failure);
    if (!failure && endpoint.address().is_v6())
        acceptor.set_option(asio::ip::v6_only(true), failure);
    if (!failure) acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor.bind(endpoint, failure);
    if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
    return failure;
}

Error cannot_listen(const tcp::endpoint& endpoint, const boost::system::error_code& failure) {
    const auto place =
        fmt::format("port {} on {}", endpoint.port(), endpoint.address().to_string());
    if (failure == asio::error::address_in_use)
        return error(Errc::conflict, place +
                                         " is taken: stop the program that has it, or choose "
                                         "another port with --listen");
    if (failure == asio::error::access_denied)
        return error(Errc::invalid, place + " is not ours to take: choose one above 1023");
    return error(Errc::unavailable, "cannot listen on " + place + ": " + failure.message());
}

bool is_shortage(const boost::system::error_code& failure) {
    return failure == asio::error::no_descriptors || failure == asio::error::no_buffer_space ||
           failure == asio::error::no_memory || failure.value() == ENFILE;
}

}  // namespace

ApiServer::ApiServer(Server& server, Catalogue& catalogue, Blobs& blobs, Clock& clock, Log log,
                     ApiOptions options)
    : state_(std::make_shared<State>(server, catalogue, blobs, clock, std::move(log),
                                     std::move(options))),
      acceptor_(clock.executor()),
      other_acceptor_(clock.executor()),
      socket_acceptor_(clock.executor()),
      pause_(clock.make_alarm()),
      gate_(clock.executor()) {}

Result<void> ApiServer::listen() {
    const auto endpoint = endpoint_of(state_->api->options);
    if (!endpoint) return endpoint.error();
    raise_descriptor_limit();
    if (auto listening = listen_on_both(*endpoint); !listening) return listening.error();
    if (auto listening = listen_on_socket(); !listening) return listening.error();
    gate_.spawn("accept connections", accept_all(acceptor_));
    if (other_acceptor_.is_open())
        gate_.spawn("accept connections, other family", accept_all(other_acceptor_));
    gate_.spawn("cut off connections", cut_off_overdue());
    return {};
}

Result<void> ApiServer::listen_on_both(const tcp::endpoint& named) {
    const auto other = other_loopback(named.address());
    for (int tries = 1;; ++tries) {
        auto failure = listen_at(acceptor_, named);
        if (failure) return cannot_listen(named, failure);
        port_ = acceptor_.local_endpoint(failure).port();
        if (!other) return {};
        const tcp::endpoint beside(*other, port_);
        failure = listen_at(other_acceptor_, beside);
        if (!failure) return {};
        boost::system::error_code ignored;
        other_acceptor_.close(ignored);
        if (is_not_there(failure)) {
            state_->api->log.write(Level::debug, "this host has one loopback address alone",
                                   "missing", other->to_string(), "why", failure.message());
            return {};
        }
        // A port that we may choose is chosen again.
        acceptor_.close(ignored);
        const bool is_ours_to_choose =
            named.port() == 0 && failure == asio::error::address_in_use && tries < ports_tried_max;
        if (!is_ours_to_choose) return cannot_listen(beside, failure);
    }
}

// Whoever calls has locked the directory: a socket that lies there is nobody's any more. The
// directory is named by its descriptor, for an address has 108 bytes.
Result<void> ApiServer::listen_on_socket() {
    const auto& folder = state_->api->options.socket;
    if (folder.empty()) return {};
    const auto whole = folder + "/api";
    ::unlink(whole.c_str());
    const int directory = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const auto name = fmt::format("/proc/self/fd/{}/api", directory);
    boost::system::error_code failure;
    const asio::local::stream_protocol::endpoint endpoint(name);
    socket_acceptor_.open(endpoint.protocol(), failure);
    if (!failure) socket_acceptor_.bind(endpoint, failure);
    if (directory >= 0) ::close(directory);
    const bool is_private = !failure && ::chmod(whole.c_str(), S_IRUSR | S_IWUSR) == 0;
    if (is_private) socket_acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (failure || !is_private)
        return error(Errc::unavailable,
                     fmt::format("cannot listen on {}: {}", whole, failure.message()));
    gate_.spawn("accept on the socket", accept_all(socket_acceptor_));
    return {};
}

template <class From>
Task<void> ApiServer::accept_all(From& acceptor) {
    auto& api = *state_->api;
    while (!api.stopping) {
        boost::system::error_code failure;
        Socket socket(api.clock.executor());
        co_await acceptor.async_accept(socket, asio::redirect_error(use_task, failure));
        if (api.stopping) co_return;
        if (failure) {
            // Those that wait to be accepted stay in the kernel's line until there is room.
            if (is_shortage(failure)) {
                ++api.metrics.accept_failures;
                api.log.write(Level::warn, "cannot accept for a moment", "why", failure.message());
                co_await pause_->wait(milliseconds(100));
            }
            continue;
        }
        ++api.metrics.connections_accepted;
        socket.set_option(tcp::no_delay(true), failure);
        auto connection = std::make_shared<Connection>(std::move(socket));
        begin(std::move(connection));
    }
}

void ApiServer::begin(std::shared_ptr<Connection> connection) {
    const auto executor = state_->api->clock.executor();
    const bool room = state_->connections.size() < state_->api->options.connections_max;
    if (room)
        asio::co_spawn(executor, serve_one(state_, std::move(connection)), asio::detached);
    else
        asio::co_spawn(executor, refuse_one(state_, std::move(connection)), asio::detached);
}

Task<void> ApiServer::serve_one(std::shared_ptr<State> state, std::shared_ptr<Connection> one) {
    const auto place = state->connections.add(one);
    ++state->api->metrics.connections;
    co_await serve(state->api, std::move(one));
    --state->api->metrics.connections;
    state->connections.remove(place);
    if (state->api->stopping) state->watch->ring();
}

Task<void> ApiServer::refuse_one(std::shared_ptr<State> state, std::shared_ptr<Connection> one) {
    ++state->api->metrics.connections_refused;
    const auto response = problem(error(Errc::unavailable, "there are too many connections"));
    std::string text;
    append_head(text, response, {.framing = Framing::length, .keep_alive = false});
    text += response.body;
    boost::system::error_code failure;
    const auto bytes = asio::buffer(text);
    co_await asio::async_write(one->socket, bytes, asio::redirect_error(use_task, failure));
}

Task<void> ApiServer::cut_off_overdue() {
    auto state = state_;
    while (!state->api->stopping || state->connections.size() > 0) {
        co_await state->watch->wait(seconds(1));
        state->connections.cut_off_overdue(state->api->clock.boot());
        const auto& release = state->api->options.release_memory;
        if (state->api->bytes->peak_is_over() && release) release();
    }
}

void ApiServer::stop() {
    state_->api->stopping = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    other_acceptor_.close(ignored);
    socket_acceptor_.close(ignored);
    pause_->ring();
    state_->watch->ring();
    state_->api->bells.ring_all();
    state_->connections.cut_off_idle();
}

}  // namespace perdure
