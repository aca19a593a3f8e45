#include "api/http/request_reader.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "api/http/problem.h"
#include "api/serve_connection.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t idle_read = 512;
constexpr std::size_t header_read = std::size_t{4} << 10;
constexpr std::size_t busy_read = std::size_t{64} << 10;
constexpr std::size_t kept_buffer_max = std::size_t{4} << 10;
constexpr std::size_t drained_max = std::size_t{32} << 20;

Response refusal_of(const boost::system::error_code& failure, const ApiOptions& options) {
    if (failure == http::error::header_limit)
        return problem(431, error(Errc::invalid, "the header has more than 16 KiB"));
    if (failure == http::error::body_limit || failure == http::error::buffer_overflow)
        return problem(413, error(Errc::invalid, "the body has more than " +
                                                     std::to_string(options.body_max >> 20) +
                                                     " MiB: send it in several requests"));
    return problem(error(Errc::invalid, "this is not HTTP/1.1: " + failure.message()));
}

Method method_of(http::verb verb) {
    switch (verb) {
        case http::verb::get: return Method::get;
        case http::verb::post: return Method::post;
        case http::verb::put: return Method::put;
        default: return Method::other;
    }
}

std::string_view view(boost::core::string_view text) { return {text.data(), text.size()}; }

// "127.0.0.1:7373" without the port; "[::1]:7373" without the brackets, too.
std::string_view name_of(std::string_view host) {
    if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

// The account of a browser is known, and the browser asks on behalf of any page that it shows. Such
// a page cannot hide its origin; and one that makes a name of its own point here (DNS rebinding)
// cannot hide that name.
bool is_of_another_site(std::string_view host, std::string_view origin) {
    if (!origin.empty() && origin != "http://" + std::string(host)) return true;
    const auto name = name_of(host);
    if (name == "localhost") return false;
    boost::system::error_code no_address;
    asio::ip::make_address(std::string(name), no_address);
    return static_cast<bool>(no_address);
}

using Header = http::request_header<>;

// The account at the other end of such a connection is the proxy's, not that of who asks.
bool was_forwarded(const Header& header) {
    for (const auto& field : header) {
        const auto name = view(field.name_string());
        const bool is_x = name.size() > 12 && beast::iequals(name.substr(0, 12), "X-Forwarded-");
        if (is_x || beast::iequals(name, "Forwarded") || beast::iequals(name, "Via") ||
            beast::iequals(name, "X-Real-IP"))
            return true;
    }
    return false;
}

// Two of a header that there can be only one of: which of them counts is anybody's guess, and a
// proxy in front may have guessed otherwise.
std::optional<Error> find_doubt(const Header& header) {
    for (const auto field :
         {http::field::host, http::field::origin, http::field::content_type,
          http::field::content_length, http::field::transfer_encoding, http::field::authorization})
        if (header.count(field) > 1)
            return error(Errc::invalid, "the header " + std::string(http::to_string(field)) +
                                            " is there more than once");
    if (header.count(http::field::content_length) + header.count(http::field::transfer_encoding) >
        1)
        return error(Errc::invalid, "Content-Length and Transfer-Encoding exclude each other");
    if (header[http::field::host].empty())
        return error(Errc::invalid, "the header Host is missing: it names the server");
    return std::nullopt;
}

std::optional<Response> refuse_header(const Header& header, const ApiOptions& options) {
    if (const auto doubt = find_doubt(header)) return problem(*doubt);
    const bool another =
        is_of_another_site(view(header[http::field::host]), view(header[http::field::origin]));
    if (options.without_protection || !another) return std::nullopt;
    return problem(error(Errc::invalid,
                         "requests of web pages of other sites are refused: name the server by "
                         "its IP address or localhost"));
}

}  // namespace

Peer peer_of(std::string_view target) {
    return target.starts_with("/v1/worker/") ? Peer::worker : Peer::person;
}

Response too_many_bytes() {
    return problem(error(Errc::overloaded,
                         "too many bytes are under way on all connections together: nothing was "
                         "done, repeat it in a moment"));
}

struct RequestReader::Parser {
    Parser(std::size_t body_max, std::shared_ptr<ByteBudget> bytes) : held(std::move(bytes)) {
        parser.header_limit(header_max);
        parser.body_limit(body_max);
        parser.eager(true);
    }

    // The body as far as its memory is taken: a length that was declared is taken at once.
    std::size_t body_size() {
        const auto declared = parser.content_length();
        return declared ? static_cast<std::size_t>(*declared) : parser.get().body().capacity();
    }
    std::size_t next_read() const {
        if (!parser.is_header_done()) return header_read;
        const auto left = parser.content_length_remaining();
        return left ? std::clamp<std::size_t>(*left, idle_read, busy_read) : busy_read;
    }

    http::request_parser<http::string_body> parser;
    boost::system::error_code failure;
    std::optional<Response> refusal;  // by what the header says
    ByteCharge held;
    BootTime body_until;
    bool header_seen = false;
};

Task<bool> RequestReader::read_some(std::size_t size) {
    boost::system::error_code failure;
    const auto space = buffer_.prepare(size);
    const auto count =
        co_await connection_.socket.async_read_some(space, asio::redirect_error(use_task, failure));
    buffer_.commit(count);
    co_return !failure;
}

// A client with a large body may wait for a word before it sends it.
Task<bool> RequestReader::welcome_body(Parser& parser) {
    parser.header_seen = true;
    parser.body_until = api_.clock.boot() + api_.options.body_timeout;
    if (!beast::iequals(parser.parser.get()[http::field::expect], "100-continue")) co_return true;
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    boost::system::error_code failure;
    const auto bytes = asio::buffer(go_on.data(), go_on.size());
    co_await asio::async_write(connection_.socket, bytes, asio::redirect_error(use_task, failure));
    co_return !failure;
}

// By what its header says, or because there is no room for what it holds so far and will hold after
// the next read. Empty if it may go on.
std::optional<Response> RequestReader::refuse(Parser& parser) const {
    if (!parser.parser.is_header_done()) {
        if (parser.held.resize(buffer_.size(), BytesFor::small)) return std::nullopt;
        return too_many_bytes();
    }
    const auto& header = parser.parser.get().base();
    if (!parser.header_seen)
        if (auto refusal = refuse_header(header, api_.options)) return refusal;
    const auto body = parser.body_size();
    const auto reading = parser.parser.is_done() ? 0 : parser.next_read();
    const auto what = bytes_for(peer_of(view(header.target())), body);
    if (parser.held.resize(body + reading, what)) return std::nullopt;
    return too_many_bytes();
}

// True: a whole request is there, or parser.failure or parser.refusal says what is wrong. False: no
// more comes.
Task<bool> RequestReader::read_into(Parser& parser) {
    bool idle = buffer_.size() == 0;
    const auto wait = idle ? api_.options.idle_timeout : api_.options.header_timeout;
    connection_.deadline = api_.clock.boot() + wait;
    connection_.is_idle = idle;
    while (true) {
        if (idle || buffer_.size() == 0 || parser.failure == http::error::need_more) {
            const bool more = co_await read_some(idle ? idle_read : parser.next_read());
            connection_.is_idle = false;
            if (!more) co_return false;
            if (idle) connection_.deadline = api_.clock.boot() + api_.options.header_timeout;
            idle = false;
        }
        parser.failure = {};
        const auto used = parser.parser.put(buffer_.data(), parser.failure);
        buffer_.consume(used);
        const bool bad = parser.failure && parser.failure != http::error::need_more;
        if (bad) co_return true;
        parser.refusal = refuse(parser);
        if (parser.refusal) co_return true;
        if (parser.parser.is_done()) co_return true;
        if (!parser.parser.is_header_done()) continue;
        if (!parser.header_seen) {
            const bool welcome = co_await welcome_body(parser);
            if (!welcome) co_return false;
        }
        // In time as a whole, and without long pauses: its room is kept for it meanwhile.
        connection_.deadline =
            std::min(parser.body_until, api_.clock.boot() + api_.options.body_stall);
    }
}

std::optional<Response> RequestReader::timeout_refusal() const {
    if (!connection_.timed_out || api_.stopping) return std::nullopt;
    return problem(408, error(Errc::unavailable, "the request did not arrive in time"));
}

Task<ReadRequest> RequestReader::next() {
    ReadRequest read;
    if (buffer_.size() == 0 && buffer_.capacity() > kept_buffer_max) buffer_.shrink_to_fit();
    const bool began_idle = buffer_.size() == 0;
    Parser parser(api_.options.body_max, api_.bytes);
    const bool complete = co_await read_into(parser);
    if (!complete) {
        const bool had_begun = !began_idle || parser.parser.got_some() || buffer_.size() > 0;
        if (had_begun) read.refusal = timeout_refusal();
        co_return read;
    }
    connection_.deadline = Connection::never;
    if (parser.refusal) {
        read.refusal = std::move(parser.refusal);
        co_return read;
    }
    if (parser.failure) {
        read.refusal = refusal_of(parser.failure, api_.options);
        co_return read;
    }
    auto& message = parser.parser.get();
    const auto target = view(message.target());
    read.keep_alive = message.keep_alive();
    read.is_http_1_0 = message.version() < 11;
    read.request = read_target(target);
    if (target.size() > target_max) {
        read.request.reset();
        read.refusal =
            problem(414, error(Errc::invalid, "the target has more than 8000 characters"));
    } else if (!read.request) {
        read.refusal = problem(error(Errc::invalid, "the target is malformed"));
    }
    if (!read.request) co_return read;
    read.request->method = method_of(message.method());
    read.request->content_type = view(message[http::field::content_type]);
    read.request->authorization = view(message[http::field::authorization]);
    read.request->is_forwarded = was_forwarded(message.base());
    read.request->body = std::move(message.body());
    read.held = std::move(parser.held);
    co_return read;
}

Task<void> RequestReader::drain() {
    boost::system::error_code ignored;
    connection_.socket.shutdown(Socket::shutdown_send, ignored);
    connection_.deadline = api_.clock.boot() + seconds(2);
    buffer_.clear();
    buffer_.shrink_to_fit();
    std::size_t drained = 0;
    while (drained < drained_max) {
        boost::system::error_code failure;
        const auto space = asio::buffer(api_.discarded);
        drained += co_await connection_.socket.async_read_some(
            space, asio::redirect_error(use_task, failure));
        if (failure) co_return;
    }
}

}  // namespace perdure
