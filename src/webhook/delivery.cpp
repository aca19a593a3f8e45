#include "webhook/delivery.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <utility>

#include "base/version.h"
#include "webhook/signature.h"
#include "wire/json_writer.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using Parser = http::response_parser<http::buffer_body>;

constexpr std::size_t addresses_max = 4;
constexpr std::uint32_t headers_max = 16 * 1024;
constexpr std::size_t buffer_max = 32 * 1024;
constexpr int informational_max = 8;
constexpr std::size_t shown_max = 4 * 1024;

IpAddress address_of(const tcp::endpoint& endpoint) {
    IpAddress address;
    if (endpoint.address().is_v4()) {
        const auto bytes = endpoint.address().to_v4().to_bytes();
        std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
    } else {
        address.v6 = true;
        address.bytes = endpoint.address().to_v6().to_bytes();
    }
    return address;
}

std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 200));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > 126; }, '?');
    return shown;
}

}  // namespace

Webhooks::Shared::Shared(Clock& c, WebhookOptions o)
    : clock(c), options(std::move(o)), tls(asio::ssl::context::tls_client) {
    Failure ignored;  // without authorities nothing is trusted, and every delivery says so
    tls.set_default_verify_paths(ignored);
    tls.set_verify_mode(asio::ssl::verify_peer, ignored);
    ::SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
}

Delivery::Delivery(std::shared_ptr<const Webhooks::Shared> shared, Message message)
    : shared_(std::move(shared)),
      message_(std::move(message)),
      alarm_(shared_->clock.make_alarm()),
      socket_(shared_->clock.executor()) {}

Task<InProcessEnd> Delivery::run() { return run_until_its_end(shared_from_this()); }

void Delivery::stop() {
    Failure ignored;
    socket_.close(ignored);
    alarm_->ring();
}

// A name that does not resolve cannot be interrupted, and a receiver may do anything: so the try
// goes on by itself, and what it has found out by the deadline counts.
Task<InProcessEnd> Delivery::run_until_its_end(Self self) {
    self->began_at_ = self->shared_->clock.boot();
    asio::co_spawn(self->shared_->clock.executor(), try_once(self), asio::detached);
    co_await self->alarm_->wait(self->shared_->options.try_max);
    Failure ignored;
    self->socket_.close(ignored);
    co_return self->end();
}

Task<void> Delivery::try_once(Self self) {
    if (self->sign()) {
        auto endpoints = co_await resolve(self);
        auto allowed = self->allowed_of(endpoints);
        const bool connected = !allowed.empty() && co_await connect(self, std::move(allowed));
        if (connected && self->message_.target.tls)
            co_await exchange_in_secret(self);
        else if (connected)
            co_await exchange(self, self->socket_);
    }
    self->tried_ = true;
    self->alarm_->ring();
}

bool Delivery::sign() {
    timestamp_ = shared_->clock.wall().us / 1'000'000;
    if (message_.secret.empty()) return true;
    const auto secrets = read_secrets(shared_->options.secrets, message_.secret);
    if (!secrets) {
        did_not_run_ = Cause::no_resources;  // another worker may have it
        problem_ = secrets.error().what;
        return false;
    }
    signature_ =
        signature_of(*secrets, {.id = message_.id, .timestamp = timestamp_, .body = message_.body});
    return true;
}

Task<std::vector<Delivery::Endpoint>> Delivery::resolve(Self self) {
    const auto& target = self->message_.target;
    std::vector<Endpoint> endpoints;
    Failure failure;
    const auto address = asio::ip::make_address(target.host, failure);
    if (!failure) {
        endpoints.emplace_back(address, target.port);
        co_return endpoints;
    }
    failure = {};
    asio::ip::basic_resolver<tcp, Executor> resolver(self->shared_->clock.executor());
    const auto port = std::to_string(target.port);
    const auto flags = tcp::resolver::numeric_service | tcp::resolver::address_configured;
    const auto found = co_await resolver.async_resolve(target.host, port, flags,
                                                       asio::redirect_error(use_task, failure));
    for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    if (endpoints.empty())
        self->problem_ = fmt::format("`{}` has no address: {}", target.host, failure.message());
    co_return endpoints;
}

std::vector<Delivery::Endpoint> Delivery::allowed_of(const std::vector<Endpoint>& found) {
    std::vector<Endpoint> allowed;
    for (const auto& endpoint : found) {
        const auto decision = decide_destination({.address = address_of(endpoint),
                                                  .port = endpoint.port(),
                                                  .allowed = &shared_->options.allow_private});
        if (decision.allowed && allowed.size() < addresses_max) allowed.push_back(endpoint);
        if (decision.allowed) continue;
        problem_ = fmt::format("{} is not spoken to: {} is {} ({})", message_.target.text(),
                               endpoint.address().to_string(), decision.what, decision.rule);
    }
    // Nobody but a person can change that: the URL, or webhooks.allow_private of the worker.
    if (allowed.empty() && !found.empty()) did_not_run_ = Cause::command_unusable;
    if (!allowed.empty()) problem_.clear();
    return allowed;
}

Task<bool> Delivery::connect(Self self, std::vector<Endpoint> endpoints) {
    Failure failure;
    co_await asio::async_connect(self->socket_, endpoints, asio::redirect_error(use_task, failure));
    if (!failure) co_return true;
    self->problem_ =
        fmt::format("{} does not answer: {}", self->message_.target.text(), failure.message());
    co_return false;
}

Task<void> Delivery::exchange_in_secret(Self self) {
    asio::ssl::stream<Socket&> stream(self->socket_, self->shared_->tls);
    const auto& host = self->message_.target.host;
    Failure failure;
    stream.set_verify_callback(asio::ssl::host_name_verification(host), failure);
    if (!parse_address(host)) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
    co_await stream.async_handshake(asio::ssl::stream_base::client,
                                    asio::redirect_error(use_task, failure));
    if (failure) {
        const auto verified = ::SSL_get_verify_result(stream.native_handle());
        const auto* why =
            verified == X509_V_OK ? nullptr : ::X509_verify_cert_error_string(verified);
        self->problem_ = fmt::format("{} cannot be trusted: {}", self->message_.target.text(),
                                     why ? why : failure.message());
        co_return;
    }
    co_await exchange(self, stream);
}

template <class Stream>
Task<void> Delivery::exchange(Self self, Stream& stream) {
    const auto text = self->request();
    const auto bytes = asio::buffer(text);
    Failure failure;
    co_await asio::async_write(stream, bytes, asio::redirect_error(use_task, failure));
    // Who has enough of a long message may answer before it is sent: the answer counts.
    co_await read_answer(self, stream);
    if (!self->status_ && failure)
        self->problem_ = fmt::format("the message could not be sent: {}", failure.message());
}

template <class Stream>
Task<void> Delivery::read_answer(Self self, Stream& stream) {
    beast::flat_buffer buffer(buffer_max);
    std::optional<Parser> parser;
    Failure failure;
    for (int heads = 0; heads < informational_max; ++heads) {
        parser.emplace();
        parser->header_limit(headers_max);
        parser->body_limit(boost::none);
        co_await http::async_read_header(stream, buffer, *parser,
                                         asio::redirect_error(use_task, failure));
        if (failure || parser->get().result_int() / 100 != 1) break;
    }
    if (failure) {
        self->problem_ = fmt::format("its answer cannot be read: {}", failure.message());
        co_return;
    }
    self->status_ = parser->get().result_int();
    const auto location = parser->get()[http::field::location];
    self->location_ = printable({location.data(), location.size()});
    std::array<char, 4 * 1024> block;
    while (!parser->is_done() && self->answer_.size() < webhook_answer_max) {
        auto& body = parser->get().body();
        body.data = block.data();
        body.size = block.size();
        co_await http::async_read_some(stream, buffer, *parser,
                                       asio::redirect_error(use_task, failure));
        if (failure == http::error::need_buffer) failure = {};
        self->answer_.append(block.data(), block.size() - parser->get().body().size);
        if (failure) co_return;
    }
}

std::string Delivery::request() const {
    std::string text = fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: perdure/{}\r\n",
                                   message_.target.path, message_.target.authority(), version);
    const auto header = [&](std::string_view name, std::string_view value) {
        fmt::format_to(std::back_inserter(text), "{}: {}\r\n", name, value);
    };
    header("Content-Type", "application/json");
    header("Content-Length", std::to_string(message_.body.size()));
    header("Connection", "close");
    header("webhook-id", message_.id);
    header("webhook-timestamp", std::to_string(timestamp_));
    if (!signature_.empty()) header("webhook-signature", signature_);
    for (const auto& [name, value] : message_.headers) header(name, value);
    text += "\r\n";
    text += message_.body;
    return text;
}

InProcessEnd Delivery::end() const {
    const auto decision = decide_delivery({.status = status_});
    InProcessEnd end;
    end.end.reported = true;
    end.end.succeeded = decision.delivered;
    end.end.cause = did_not_run_.value_or(decision.cause);
    end.end.ran = did_not_run_ ? Ran::no : Ran::yes;
    auto evidence = std::make_shared<Evidence>();
    evidence->host = shared_->options.host;
    evidence->ran_for = shared_->clock.boot() - began_at_;
    evidence->detail = decision.delivered ? std::string() : sentence();
    if (status_) evidence->result = result();
    end.evidence = std::move(evidence);
    return end;
}

std::string Delivery::sentence() const {
    if (status_ && *status_ / 100 == 3)
        return fmt::format("{} answered {} to `{}`; redirects are not followed: give the final URL",
                           message_.target.text(), *status_, location_);
    if (status_) return fmt::format("{} answered {}", message_.target.text(), *status_);
    if (tried_ || !problem_.empty()) return problem_;
    return fmt::format("{} did not answer in time", message_.target.text());
}

std::string Delivery::result() const {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    out.field("status", *status_);
    out.field("answer", std::string_view(answer_).substr(0, shown_max));
    out.end_object();
    return text;
}

}  // namespace perdure
