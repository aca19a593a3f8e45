#include "api/serve_connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>
#include <cerrno>
#include <exception>
#include <utility>

#include "api/handlers/handlers.h"
#include "api/http/problem.h"
#include "api/http/request_reader.h"
#include "api/router.h"
#include "base/fault.h"

namespace perdure {
namespace {

bool changes_something(const Request& request) {
    return request.method != Method::get || request.path.starts_with("/v1/worker/");
}

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr std::size_t subject_max = 200;
constexpr auto poll_interval = milliseconds(250);

// Looks at the connection without waiting.
bool is_gone(Socket& socket) {
    char byte = 0;
    const auto count = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count > 0) return false;
    return count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

// The other end's, without its port.
std::string address_of(int socket) {
    sockaddr_storage other{};
    socklen_t size = sizeof other;
    auto* any = reinterpret_cast<sockaddr*>(&other);
    std::array<char, NI_MAXHOST> text{};
    if (::getpeername(socket, any, &size) != 0 ||
        ::getnameinfo(any, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
        return "an unknown address";
    return text.data();
}

class ConnectionLoop final : public ChunkedBody {
public:
    ConnectionLoop(std::shared_ptr<Api> api, std::shared_ptr<Connection> connection)
        : api_(std::move(api)), connection_(std::move(connection)), reader_(*api_, *connection_) {}

    Task<void> run();

    Task<bool> begin(Response head) override;
    Task<bool> send(std::string bytes, CountedBy counted_by) override;
    void give_up() override { connection_->deadline = api_->clock.boot(); }
    // Whoever has lost the right to listen is as good as gone.
    bool peer_is_gone() override { return is_gone(connection_->socket) || !may_still_listen(); }

private:
    Task<void> answer(Request request);
    Task<std::optional<Response>> refuse(const Route& route, Request& request);
    Task<void> slow_down();
    Task<std::string> tenant_of_job(const Request& request);
    void note(const Route& route, const Request& request, const Response& response);
    Task<void> answer_in_pieces(const Route& route, const Request& request);
    Task<Response> handle(const Route& route, const Request& request);
    Task<Response> handle_watched(const Route& route, Request request);
    Task<void> write_counted(const Request& request, Response response);
    Task<void> write(Response response);
    bool may_still_listen() const {
        return !streaming_ || api_->access.is_still_good(*streaming_, api_->clock.wall());
    }
    Task<bool> write_out(std::string body, std::string_view tail = {});

    std::shared_ptr<Api> api_;
    std::shared_ptr<Connection> connection_;
    RequestReader reader_;
    ConnectionPeer peer_;
    std::string rule_;                    // by which the last request was judged
    const Request* streaming_ = nullptr;  // what is answered in pieces now
    std::string head_;                    // of an answer or of a piece, until it is written
    bool keep_alive_ = true;
    bool is_http_1_0_ = false;
    bool began_ = false;  // an answer in pieces
};

Task<void> ConnectionLoop::run() {
    peer_ = api_->access.look_up(connection_->socket.native_handle());
    while (keep_alive_ && !api_->stopping) {
        auto read = co_await reader_.next();
        keep_alive_ = read.keep_alive;
        is_http_1_0_ = read.is_http_1_0;
        if (read.refusal) {
            keep_alive_ = false;
            co_await write(std::move(*read.refusal));
            co_await reader_.drain();
        } else if (read.request) {
            co_await answer(std::move(*read.request));
        }
    }
}

Task<void> ConnectionLoop::answer(Request request) {
    const auto began_at = api_->clock.boot();
    auto routed = find_route(request);
    if (!routed.route) {
        api_->metrics.answered("none", routed.refusal.status, Duration{});
        co_await write(std::move(routed.refusal));
        co_return;
    }
    if (auto refusal = co_await refuse(*routed.route, request)) {
        api_->metrics.answered(routed.route->pattern, refusal->status, Duration{});
        note(*routed.route, request, *refusal);
        co_await write(std::move(*refusal));
        co_return;
    }
    if (changes_something(request) && !api_->options.reads_only.empty()) {
        auto refusal = problem(error(Errc::unavailable, api_->options.reads_only));
        api_->metrics.answered(routed.route->pattern, refusal.status, Duration{});
        co_await write(std::move(refusal));
        co_return;
    }
    if (routed.route->stream) {
        co_await answer_in_pieces(*routed.route, request);
        co_return;
    }
    const bool is_peoples_read =
        request.method == Method::get && peer_of(request.path) == Peer::person;
    Response response;
    if (is_peoples_read)
        response = co_await handle_watched(*routed.route, request);
    else
        response = co_await handle(*routed.route, request);
    note(*routed.route, request, response);
    const auto took = api_->clock.boot() - began_at;
    api_->metrics.answered(routed.route->pattern, response.status, took);
    const bool is_report = faults_are_armed() && routed.route->pattern.ends_with("/report");
    if (is_report && strikes(Fault::server_answer_lost)) {
        keep_alive_ = false;
        co_return;
    }
    co_await write_counted(request, std::move(response));
}

// Who is bound to a tenant must not learn which jobs others have.
Task<std::string> ConnectionLoop::tenant_of_job(const Request& request) {
    const auto id = request.names.empty() ? std::nullopt : JobId::parse(request.names.front());
    if (!id) co_return std::string();
    const auto job = co_await api_->server.jobs().job(*id);
    // What cannot be read is nobody's.
    if (!job) co_return job.is(Errc::not_found) ? std::string() : std::string("?");
    co_return job->spec->tenant;
}

// However many connections it takes: what counts is the account, or the address if nobody knows it.
Task<void> ConnectionLoop::slow_down() {
    const auto source = peer_.uid ? fmt::format("uid {}", *peer_.uid)
                                  : address_of(connection_->socket.native_handle());
    const auto verdict = api_->wrong_tokens.note(source, api_->clock.boot());
    if (verdict.is_worth_a_line)
        api_->log.write(Level::warn, "wrong tokens", "from", source, "so many", verdict.count,
                        "next", "each of its answers waits longer");
    // Nobody waits for it who has gone, and no stop does.
    const auto alarm = api_->clock.make_alarm();
    const auto until = api_->clock.boot() + verdict.wait;
    while (!api_->stopping && !is_gone(connection_->socket) && api_->clock.boot() < until)
        co_await alarm->wait(std::min(until - api_->clock.boot(), poll_interval));
}

// Empty: the caller may. A wrong token costs its sender time, and nobody else.
Task<std::optional<Response>> ConnectionLoop::refuse(const Route& route, Request& request) {
    auto& access = api_->access;
    auto reach = TenantReach::unbound;
    if (const auto bound_to = access.tenant_of(request); !bound_to.empty()) {
        std::string of_job;
        if (route.scope == Scope::job) of_job = co_await tenant_of_job(request);
        reach = reach_of(route, request, bound_to, of_job);
    }
    const auto caller = access.judge(peer_, request, route.least, reach, api_->clock.wall());
    rule_ = caller.decision.rule;
    request.caller = caller.name;
    request.who = caller.who;
    request.tenant = caller.tenant;
    if (caller.decision.verdict == AccessVerdict::allow) co_return std::nullopt;
    const bool is_nobody = caller.decision.verdict == AccessVerdict::unauthenticated;
    ++(is_nobody ? api_->metrics.unauthenticated : api_->metrics.forbidden);
    if (is_nobody && !request.authorization.empty()) co_await slow_down();
    co_return refusal_of(caller, route.least);
}

// What changes something, and every refusal. Workers' own messages are in the ledger. Submits are
// added up: who submitted a job stands with the job.
void ConnectionLoop::note(const Route& route, const Request& request, const Response& response) {
    auto* audit = api_->access.options().audit;
    const bool is_refusal = response.status == 401 || response.status == 403;
    const bool is_change = request.method != Method::get && route.least != Role::worker;
    if (!audit || (!is_refusal && !is_change)) return;
    if (route.handle == handlers::submit_jobs && !is_refusal)
        return audit->count(request.caller, "POST /v1/jobs", response.status);
    const auto& subject = request.names.empty() ? response.subject : request.names.front();
    audit->append(
        {.at = api_->clock.wall(),
         .who = request.caller,
         .action = std::string(to_string(request.method)) + " " + std::string(route.pattern),
         .subject = subject.substr(0, subject_max),
         .status = response.status,
         .rule = rule_});
}

// What was only read can be asked for again; what was done must be answered.
Task<void> ConnectionLoop::write_counted(const Request& request, Response response) {
    const bool is_read = request.method == Method::get && response.status < 300;
    const auto what = bytes_for(peer_of(request.path), response.body.size());
    ByteCharge held(api_->bytes);
    if (!is_read)
        held.resize_anyway(response.body.size());
    else if (!held.resize(response.body.size(), what))
        response = too_many_bytes();
    co_await write(std::move(response));
}

Task<Response> ConnectionLoop::handle(const Route& route, const Request& request) {
    std::string failure;
    try {
        co_return co_await route.handle(*api_, request);
    } catch (const std::exception& thrown) {
        failure = thrown.what();
    }
    api_->log.write(Level::error, "a handler failed", "route", route.pattern, "why", failure);
    co_return problem(error(Errc::corrupt, "the server failed at this request; its log says more"));
}

// What is read for somebody who has gone is given up. Whoever sends the next request already is
// there: then nobody looks any further.
Task<Response> ConnectionLoop::handle_watched(const Route& route, Request request) {
    request.gone = std::make_shared<std::atomic<bool>>(false);
    auto look = [gone = request.gone,
                 connection = connection_](const boost::system::error_code& failure) {
        if (!failure && is_gone(connection->socket)) *gone = true;
    };
    connection_->socket.async_wait(Socket::wait_read, std::move(look));
    auto response = co_await handle(route, request);
    boost::system::error_code ignored;
    connection_->socket.cancel(ignored);
    co_return response;
}

// Ends properly only if the handler says that all is well: otherwise the peer must see a break.
Task<void> ConnectionLoop::answer_in_pieces(const Route& route, const Request& request) {
    began_ = false;
    streaming_ = &request;
    auto response = co_await route.stream(*api_, request, *this);
    if (!may_still_listen()) {
        // It began to wait with a right that it has lost meanwhile.
        response = problem(error(Errc::unauthenticated,
                                 "the token has expired, or was revoked, while it was used"));
    }
    streaming_ = nullptr;
    api_->metrics.answered(route.pattern, response.status, Duration{});
    if (!began_) {
        co_await write_counted(request, std::move(response));
        co_return;
    }
    if (response.status != 200) {
        keep_alive_ = false;
        co_return;
    }
    if (!is_http_1_0_) head_ += "0\r\n\r\n";
    const bool sent = co_await write_out({});
    if (!sent) keep_alive_ = false;
}

Task<void> ConnectionLoop::write(Response response) {
    if (api_->stopping) keep_alive_ = false;
    append_head(head_, response, {.framing = Framing::length, .keep_alive = keep_alive_});
    const bool sent = co_await write_out(std::move(response.body));
    if (!sent) keep_alive_ = false;
}

// The head, then the body and what ends it; without a copy of the body.
Task<bool> ConnectionLoop::write_out(std::string body, std::string_view tail) {
    connection_->deadline = api_->clock.boot() + api_->options.write_timeout;
    boost::system::error_code failure;
    const std::array bytes = {asio::const_buffer(asio::buffer(head_)),
                              asio::const_buffer(asio::buffer(body)), asio::buffer(tail)};
    co_await asio::async_write(connection_->socket, bytes, asio::redirect_error(use_task, failure));
    connection_->deadline = Connection::never;
    head_.clear();
    co_return !failure;
}

Task<bool> ConnectionLoop::begin(Response head) {
    began_ = true;
    const auto framing = is_http_1_0_ ? Framing::until_close : Framing::chunked;
    if (is_http_1_0_) keep_alive_ = false;
    append_head(head_, head, {.framing = framing, .keep_alive = keep_alive_});
    co_return co_await write_out({});
}

Task<bool> ConnectionLoop::send(std::string bytes, CountedBy counted_by) {
    if (!may_still_listen()) co_return false;
    if (bytes.empty()) co_return true;
    ByteCharge held(api_->bytes);
    const bool counted = counted_by == CountedBy::caller ||
                         held.resize(bytes.size(), bytes_for(Peer::person, bytes.size()));
    if (!counted) co_return false;
    if (is_http_1_0_) co_return co_await write_out(std::move(bytes));
    fmt::format_to(std::back_inserter(head_), "{:x}\r\n", bytes.size());
    co_return co_await write_out(std::move(bytes), "\r\n");
}

}  // namespace

void append_head(std::string& out, const Response& response, HeadFacts facts) {
    auto into = std::back_inserter(out);
    const auto reason = http::obsolete_reason(http::int_to_status(response.status));
    fmt::format_to(into, "HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response.status,
                   std::string_view(reason.data(), reason.size()), response.content_type);
    for (const auto& [name, value] : response.headers)
        fmt::format_to(into, "{}: {}\r\n", name, value);
    if (facts.framing == Framing::length)
        fmt::format_to(into, "Content-Length: {}\r\n", response.body.size());
    if (facts.framing == Framing::chunked) out += "Transfer-Encoding: chunked\r\n";
    if (!facts.keep_alive) out += "Connection: close\r\n";
    out += "\r\n";
}

Task<void> serve(std::shared_ptr<Api> api, std::shared_ptr<Connection> connection) {
    std::string failure;
    try {
        ConnectionLoop loop(api, connection);
        co_await loop.run();
    } catch (const std::exception& thrown) {
        failure = thrown.what();
    }
    if (!failure.empty()) api->log.write(Level::error, "a connection failed", "why", failure);
    boost::system::error_code ignored;
    connection->socket.close(ignored);
}

}  // namespace perdure
