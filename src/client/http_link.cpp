#include "client/http_link.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
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

std::string text_of(const HttpCall& call, const Url& url) {
    std::string text =
        fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", call.method, call.target, url.text());
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
    State(Executor e, Url u) : executor(e), url(std::move(u)), stream(e) {}

    void close() {
        connected = false;
        Failure ignored;
        stream.socket().close(ignored);
        buffer.clear();
        pieces.reset();
    }

    Executor executor;
    Url url;
    beast::basic_stream<tcp, Executor> stream;
    beast::flat_buffer buffer;
    std::optional<PieceParser> pieces;
    std::vector<char> space;
    bool connected = false;
};

HttpLink::HttpLink(Executor executor, Url url)
    : state_(std::make_shared<State>(executor, std::move(url))) {}

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

Task<Result<void>> HttpLink::connect_state(std::shared_ptr<State> state, Duration timeout) {
    state->close();
    Failure failure;
    std::vector<tcp::endpoint> endpoints;
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
    co_return Result<void>{};
}

Task<Result<void>> HttpLink::send(std::shared_ptr<State> state, HttpCall call) {
    const auto text = text_of(call, state->url);
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
