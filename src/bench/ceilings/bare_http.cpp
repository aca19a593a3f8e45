#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <thread>

#include "bench/ceilings/ceilings.h"
#include "bench/job_bodies.h"
#include "bench/load.h"
#include "testbed/http_caller.h"

namespace perdure::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

asio::awaitable<void> serve(tcp::socket socket) {
    boost::beast::flat_buffer buffer;
    boost::system::error_code failed;
    socket.set_option(tcp::no_delay(true), failed);
    while (!failed) {
        http::request<http::string_body> request;
        co_await http::async_read(socket, buffer, request,
                                  asio::redirect_error(asio::use_awaitable, failed));
        if (failed) break;
        http::response<http::string_body> response(http::status::created, 11);
        response.set(http::field::content_type, "application/json");
        response.body() = R"({"id":"06na5x0g00000","state":"ready","created":true})";
        response.prepare_payload();
        co_await http::async_write(socket, response,
                                   asio::redirect_error(asio::use_awaitable, failed));
    }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
    const auto executor = acceptor.get_executor();
    boost::system::error_code failed;
    while (!failed) {
        auto socket =
            co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
        if (!failed) asio::co_spawn(executor, serve(std::move(socket)), asio::detached);
    }
}

}  // namespace

Result<double> measure_bare_http(std::size_t requests, std::size_t connections) {
    asio::io_context context(1);
    boost::system::error_code failed;
    tcp::acceptor acceptor(context);
    const tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
    acceptor.open(any.protocol(), failed);
    if (!failed) acceptor.bind(any, failed);
    if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) return error(Errc::unavailable, "cannot listen: " + failed.message());
    const auto port = acceptor.local_endpoint(failed).port();
    asio::co_spawn(context, listen(acceptor), asio::detached);
    std::jthread server([&context] { context.run(); });

    const auto request = request_bytes("POST", "/v1/jobs", noop_job("bare"));
    const auto took = drive({.port = port,
                             .connections = connections,
                             .requests = requests,
                             .request = [&](std::size_t) -> std::string_view { return request; },
                             .answered = {}});
    context.stop();
    if (!took) return took.error();
    return static_cast<double>(requests) / *took;
}

}  // namespace perdure::bench
