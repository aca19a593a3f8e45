// How fast HTTP, JSON and the worker protocol are, with a memory store behind them. Disabled, since
// it measures and promises nothing:
//   wire_live_test --gtest_also_run_disabled_tests --gtest_filter='Bench.*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "tests/wire/live_server.h"
#include "tests/wire/live_worker.h"
#include "wire/worker_json.h"

namespace perdure::wire_tests {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

template <class Work>
double seconds_of(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void report(std::string_view what, double count, double seconds) {
    fmt::print("{:<52} {:>9.0f} /s\n", what, count / seconds);
}

// Sends one request on each connection, then reads one answer from each: 64 are always under way.
double round_trips(std::uint16_t port, const std::string& request, int rounds) {
    constexpr std::size_t connections = 64;
    asio::io_context context;
    std::vector<tcp::socket> sockets;
    for (std::size_t i = 0; i < connections; ++i) {
        sockets.emplace_back(context).connect({asio::ip::address_v4::loopback(), port});
        sockets.back().set_option(tcp::no_delay(true));
    }
    const auto took = seconds_of([&] {
        char space[4096];
        for (int round = 0; round < rounds; ++round) {
            for (auto& socket : sockets) asio::write(socket, asio::buffer(request));
            for (auto& socket : sockets) socket.read_some(asio::buffer(space));
        }
    });
    return rounds * static_cast<double>(connections) / took;
}

TEST(Bench, DISABLED_requests) {
    LiveServer server;
    fmt::print("{:<52} {:>9.0f} /s\n", "GET /livez, 64 connections",
               round_trips(server.port(), "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", 2000));
    const std::string body = R"({"kind":"perdure.noop"})";
    const auto submit = fmt::format(
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        body.size(), body);
    fmt::print("{:<52} {:>9.0f} /s\n", "POST /v1/jobs, one job each, 64 connections",
               round_trips(server.port(), submit, 1000));
}

std::string batch(int count) {
    std::string jobs = R"({"jobs":[)";
    for (int i = 0; i < count; ++i) jobs += R"({"kind":"perdure.noop"},)";
    jobs.back() = ']';
    return jobs + "}";
}

TEST(Bench, DISABLED_batches_and_lives) {
    LiveServer server;
    ApiClient client(server.client_options());
    constexpr int batches = 100;
    constexpr int size = 1000;
    const auto jobs = batch(size);
    const auto submitting = seconds_of([&] {
        for (int i = 0; i < batches; ++i)
            ASSERT_TRUE(client.request("POST", "/v1/jobs", jobs)->ok());
    });
    report("POST /v1/jobs, 1,000 jobs each", batches * size, submitting);
    LiveWorker worker({server.url()}, "w1", 1000);
    const auto draining = seconds_of([&] {
        eventually([&] {
            const auto page = client.request(
                "GET", "/v1/jobs?state=ready,starting,running,scheduled,blocked&limit=1");
            return page && page->text == R"({"jobs":[]})";
        });
    });
    report("jobs drained by one worker with 1,000 slots", batches * size, draining);
}

TEST(Bench, DISABLED_messages) {
    constexpr int count = 200'000;
    Assignment assignment{.attempt = {JobId{1}, Epoch{1}}, .number = 1};
    assignment.spec = std::make_shared<const JobSpec>(JobSpec{.kind = "perdure.noop"});
    const StreamMessage message(assignment);
    std::string text;
    report("assignments written", count, seconds_of([&] {
               for (int i = 0; i < count; ++i) {
                   text.clear();
                   append_json(text, message);
               }
           }));
    report("assignments read", count, seconds_of([&] {
               for (int i = 0; i < count; ++i) {
                   StreamMessage read;
                   ASSERT_FALSE(from_json(text, read));
               }
           }));
    ReportRequest reports{.session = SessionId{1}};
    for (std::uint64_t i = 0; i < 1000; ++i)
        reports.items.push_back(
            {.attempt = {JobId{i + 1}, Epoch{1}},
             .end = {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true}});
    report("report items written", count, seconds_of([&] {
               for (int i = 0; i < count / 1000; ++i) {
                   text.clear();
                   append_json(text, reports);
               }
           }));
    report("report items read", count, seconds_of([&] {
               for (int i = 0; i < count / 1000; ++i) {
                   ReportRequest read;
                   ASSERT_FALSE(from_json(text, read));
               }
           }));
}

}  // namespace
}  // namespace perdure::wire_tests
