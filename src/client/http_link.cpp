#include "client/http_link.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "platform/socket_path.h"
#include "platform/socket_peer.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using PieceParser = http::response_parser<http::buffer_body>;

// A heartbeat may be answered with all assignments of a worker, each with large arguments.
constexpr std::uint64_t reply_max = std::uint64_t{1} << 30;
constexpr std::size_t piece_max = std::size_t{256} << 10;
// Beast reads as much as its buffer has room for: an empty one would be filled 512 bytes at a time.
constexpr std::size_t read_max = std::size_t{64} << 10;

std::chrono::microseconds wait(Duration duration) {
    return std::chrono::microseconds(std::min(duration, days(365)).us);
}

template <class Number, class Message>
void read_header(const Message& message, beast::string_view name, Number& into) {
    const auto text = message[name];
    std::from_chars(text.data(), text.data() + text.size(), into);
}

template <class Message>
HttpReply head_of(const Message& message) {
    HttpReply reply{.status = message.result_int()};
    read_header(message, "Perdure-Epoch", reply.epoch);
    read_header(message, "Perdure-Offset", reply.offset);
    return reply;
}

// The first thing that is said to a server: nothing that it must not know.
HttpCall greeting() { return {.method = "GET", .target = "/livez"}; }

bool is_on_this_host(const asio::generic::stream_protocol::endpoint& peer) {
    const auto family = peer.data()->sa_family;
    if (family == AF_UNIX) return true;
    tcp::endpoint address;
    if (family != AF_INET && family != AF_INET6) return false;
    address.resize(peer.size());
    std::copy_n(reinterpret_cast<const char*>(peer.data()), peer.size(),
                reinterpret_cast<char*>(address.data()));
    const auto ip = address.address();
    if (ip.is_v6() && ip.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6()).is_loopback();
    return ip.is_loopback();
}

std::string text_of(const HttpCall& call, const Url& url, const std::string& token) {
    std::string text =
        fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", call.method, call.target, url.text());
    if (!token.empty()) text += "Authorization: Bearer " + token + "\r\n";
    const bool has_body = !call.body.empty() || call.method != "GET";
    if (has_body)
        fmt::format_to(std::back_inserter(text), "Content-Type: {}\r\nContent-Length: {}\r\n",
                       call.content_type, call.body.size());
    text += "\r\n";
    text += call.body;
    return text;
}

Error broken(const Url& url, const Failure& failure) {
    const bool late = failure == beast::error::timeout;
    return error(Errc::outcome_unknown,
                 fmt::format("{} {}", url.text(),
                             late ? "did not answer in time"
                                  : "broke the connection: " + failure.message()));
}

}  // namespace

struct HttpLink::State {
    State(Executor e, Url u, std::shared_ptr<const Credentials> c)
        : executor(e), url(std::move(u)), credentials(std::move(c)), stream(e) {}

    // To this very server, and only once it is known whose it is.
    const std::string& token() const {
        static const std::string none;
        return credentials && is_met && url.socket.empty() ? credentials->token : none;
    }

    void close() {
        connected = false;
        is_met = false;
        Failure ignored;
        stream.socket().close(ignored);
        buffer.clear();
        pieces.reset();
    }

    Executor executor;
    Url url;
    std::shared_ptr<const Credentials> credentials;
    beast::basic_stream<asio::generic::stream_protocol, Executor> stream;
    beast::flat_buffer buffer;
    std::optional<PieceParser> pieces;
    std::vector<char> space;
    bool connected = false;
    bool is_met = false;  // the server may be told our token
};

HttpLink::HttpLink(Executor executor, Url url, std::shared_ptr<const Credentials> credentials)
    : state_(std::make_shared<State>(executor, std::move(url), std::move(credentials))) {}

void HttpLink::close() { state_->close(); }

bool HttpLink::is_usable() const {
    if (!state_->connected) return false;
    char byte = 0;
    // Nothing is to be read between two calls: if there is, it is the peer's farewell.
    return ::recv(state_->stream.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

Task<Result<void>> HttpLink::connect(Duration timeout) { return connect_state(state_, timeout); }
Task<Result<HttpReply>> HttpLink::call(HttpCall call, Duration timeout) {
    return call_state(state_, std::move(call), timeout);
}
Task<Result<HttpReply>> HttpLink::begin(HttpCall call, Duration timeout) {
    return begin_state(state_, std::move(call), timeout);
}
Task<Result<std::string>> HttpLink::next_piece(Duration timeout) {
    return piece_of_state(state_, timeout);
}

// The path of a socket is short; that of a data directory need not be.
Task<Result<void>> HttpLink::connect_socket(std::shared_ptr<State> state, Duration timeout) {
    const SocketPath path(state->url.socket);
    Failure failure = path.failure();
    if (!failure) {
        state->stream.expires_after(wait(timeout));
        const asio::local::stream_protocol::endpoint endpoint(path.text());
        co_await state->stream.async_connect(endpoint, asio::redirect_error(use_task, failure));
    }
    if (failure)
        co_return error(Errc::unavailable, fmt::format("no server answers at {}: {}",
                                                       state->url.whole(), failure.message()));
    co_return Result<void>{};
}

Task<Result<void>> HttpLink::connect_state(std::shared_ptr<State> state, Duration timeout) {
    state->close();
    Failure failure;
    std::vector<tcp::endpoint> endpoints;
    if (!state->url.socket.empty()) {
        auto connected = co_await connect_socket(state, timeout);
        if (!connected) co_return connected.error();
        state->buffer.reserve(read_max);
        state->connected = true;
        co_return co_await meet(state, timeout);
    }
    const auto address = asio::ip::make_address(state->url.host, failure);
    if (!failure) {
        endpoints.emplace_back(address, state->url.port);
    } else {
        failure = {};
        asio::ip::basic_resolver<tcp, Executor> resolver(state->executor);
        const auto port = std::to_string(state->url.port);
        const auto found = co_await resolver.async_resolve(state->url.host, port,
                                                           asio::redirect_error(use_task, failure));
        for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    }
    if (!failure) {
        state->stream.expires_after(wait(timeout));
        co_await state->stream.async_connect(endpoints, asio::redirect_error(use_task, failure));
    }
    if (failure)
        co_return error(Errc::unavailable, fmt::format("no server answers at http://{}: {}",
                                                       state->url.text(), failure.message()));
    state->stream.socket().set_option(tcp::no_delay(true), failure);
    state->stream.socket().set_option(asio::socket_base::keep_alive(true), failure);
    state->buffer.reserve(read_max);
    state->connected = true;
    co_return co_await meet(state, timeout);
}

// Whoever listens there while our server is down must not get what is meant for it. A connection
// that was not accepted yet belongs to nobody: so there is a first answer, to a question without
// secrets.
Task<Result<void>> HttpLink::meet(std::shared_ptr<State> state, Duration timeout) {
    if (!state->credentials) co_return Result<void>{};
    Failure failure;
    const auto peer = state->stream.socket().remote_endpoint(failure);
    if (failure || !is_on_this_host(peer)) {
        state->is_met = !failure;
        co_return Result<void>{};
    }
    if (state->url.socket.empty()) {
        auto answer = co_await call_state(state, greeting(), timeout);
        if (!answer) co_return error(Errc::unavailable, answer.error().what);
        if (!state->connected)
            co_return error(Errc::unavailable, state->url.whole() + " closed the connection");
    }
    static thread_local SocketPeers peers;
    const auto& believed = state->credentials->server_users;
    AnswererFacts facts{.uid = peers.account_of(state->stream.socket().native_handle()),
                        .self = ::geteuid()};
    if (facts.uid)
        facts.is_listed = std::find(believed.begin(), believed.end(), *facts.uid) != believed.end();
    if (decide_answerer(facts) == AnswererDecision::trust) {
        state->is_met = true;
        co_return Result<void>{};
    }
    state->close();
    const auto whose = facts.uid ? "belongs to " + peers.name_of(*facts.uid)
                                 : std::string("belongs to nobody that can be told for certain");
    co_return error(Errc::forbidden,
                    fmt::format("the server at {} {}: nothing was sent to it; name the account in "
                                "server.users if it is the right one",
                                state->url.whole(), whose));
}

Task<Result<void>> HttpLink::send(std::shared_ptr<State> state, HttpCall call) {
    const auto text = text_of(call, state->url, state->token());
    Failure failure;
    const auto bytes = asio::buffer(text);
    co_await asio::async_write(state->stream, bytes, asio::redirect_error(use_task, failure));
    if (!failure) co_return Result<void>{};
    state->close();
    co_return error(Errc::unavailable, fmt::format("the request could not be sent to {}: {}",
                                                   state->url.text(), failure.message()));
}

Task<Result<HttpReply>> HttpLink::call_state(std::shared_ptr<State> state, HttpCall call,
                                             Duration timeout) {
    state->stream.expires_after(wait(timeout));
    auto sent = co_await send(state, std::move(call));
    if (!sent) co_return sent.error();
    http::response_parser<http::string_body> parser;
    parser.body_limit(reply_max);
    Failure failure;
    co_await http::async_read(state->stream, state->buffer, parser,
                              asio::redirect_error(use_task, failure));
    if (failure) {
        state->close();
        co_return broken(state->url, failure);
    }
    auto& message = parser.get();
    auto reply = head_of(message);
    reply.body = std::move(message.body());
    if (!message.keep_alive()) state->close();
    co_return reply;
}

Task<Result<HttpReply>> HttpLink::begin_state(std::shared_ptr<State> state, HttpCall call,
                                              Duration timeout) {
    state->stream.expires_after(wait(timeout));
    auto sent = co_await send(state, std::move(call));
    if (!sent) co_return sent.error();
    state->pieces.emplace();
    state->pieces->body_limit(boost::none);
    Failure failure;
    co_await http::async_read_header(state->stream, state->buffer, *state->pieces,
                                     asio::redirect_error(use_task, failure));
    if (failure || !state->pieces) {
        state->close();
        co_return broken(state->url, failure);
    }
    auto reply = head_of(state->pieces->get());
    if (reply.status == 200) co_return reply;
    while (true) {
        auto piece = co_await piece_of_state(state, timeout);
        if (!piece) co_return piece.error();
        if (piece->empty()) co_return reply;
        reply.body += *piece;
    }
}

Task<Result<std::string>> HttpLink::piece_of_state(std::shared_ptr<State> state, Duration timeout) {
    state->space.resize(piece_max);
    state->stream.expires_after(wait(timeout));
    while (state->pieces && !state->pieces->is_done()) {
        auto& body = state->pieces->get().body();
        body.data = state->space.data();
        body.size = state->space.size();
        Failure failure;
        co_await http::async_read_some(state->stream, state->buffer, *state->pieces,
                                       asio::redirect_error(use_task, failure));
        if (failure == http::error::need_buffer) failure = {};
        if (failure || !state->pieces) {
            state->close();
            co_return broken(state->url, failure);
        }
        const auto count = state->space.size() - state->pieces->get().body().size;
        if (count > 0) co_return std::string(state->space.data(), count);
    }
    if (!state->pieces) co_return error(Errc::unavailable, "the stream was closed");
    if (!state->pieces->keep_alive()) state->close();
    co_return std::string();
}

}  // namespace perdure
