// One budget for all bytes in flight (C8): beyond it a request is refused at once, and those who
// need little go on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/wire/live_server.h"

namespace perdure::wire_tests {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t mib = std::size_t{1} << 20;

// A client whose body does not come to its end.
class Unfinished {
public:
    Unfinished(LiveServer& server, const std::string& header, std::size_t sent)
        : socket_(context_) {
        socket_.connect({asio::ip::address_v4::loopback(), server.port()});
        asio::write(socket_, asio::buffer("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n" + header +
                                          "\r\n\r\n" + std::string(sent, ' ')));
    }

private:
    asio::io_context context_;
    tcp::socket socket_;
};

std::string declared(std::size_t size) { return fmt::format("Content-Length: {}", size); }

std::uint64_t metric(ApiClient& client, std::string_view name) {
    const auto reply = client.request("GET", "/metrics");
    if (!reply) return 0;
    const auto at = reply->text.find(fmt::format("\n{} ", name));
    if (at == std::string::npos) return 0;
    return std::stoull(reply->text.substr(at + name.size() + 2));
}

void until_in_flight(ApiClient& client, std::size_t least) {
    eventually([&] { return metric(client, "perdure_bytes_in_flight") >= least; });
}

std::string header_of(std::size_t size) {
    return "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n" + declared(size) + "\r\n\r\n";
}

TEST(Overload, is_answered_at_once_without_waiting_for_the_body) {
    LiveServer server({.bytes_in_flight = 4 * mib});
    ApiClient client(server.client_options());
    const Unfinished first(server, declared(2 * mib), mib);
    until_in_flight(client, 2 * mib);
    const auto answer = exchange(server.port(), header_of(2 * mib), [](const std::string& text) {
        return text.find("overloaded") != std::string::npos;
    });
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 429") << answer;
    EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
}

TEST(Overload, by_large_bodies_leaves_room_for_small_requests_and_for_workers) {
    LiveServer server({.bytes_in_flight = 4 * mib});
    ApiClient client(server.client_options());
    const Unfinished first(server, declared(2 * mib), mib);
    const Unfinished second(server, declared(mib - 200'000), mib / 2);
    until_in_flight(client, 2 * mib + mib / 2);
    const auto job = R"({"argv":["true"],"args":")" + std::string(50'000, 'x') + R"("})";
    for (int i = 0; i < 10; ++i) EXPECT_EQ(client.request("POST", "/v1/jobs", job)->status, 201U);
    const auto large = R"({"argv":["true"],"args":")" + std::string(500'000, 'x') + R"("})";
    EXPECT_EQ(client.request("POST", "/v1/jobs", large)->status, 429U);
    const auto heartbeat = R"({"session":"0000000000001","number":1,"seen":0,"slots":1,)"
                           R"("offer":{},"lease_us":10000000,"attempts":[],"colour":")" +
                           std::string(200'000, 'x') + R"("})";
    EXPECT_EQ(client.request("POST", "/v1/worker/heartbeat", heartbeat)->status, 200U);
}

TEST(Overload, ends_when_the_bodies_are_gone) {
    LiveServer server({.bytes_in_flight = 4 * mib});
    ApiClient client(server.client_options());
    const auto large = R"({"argv":["true"],"args":")" + std::string(1'000'000, 'x') + R"("})";
    {
        const Unfinished first(server, declared(2 * mib + mib / 2), 1);
        until_in_flight(client, 2 * mib);
        EXPECT_EQ(client.request("POST", "/v1/jobs", large)->status, 429U);
    }
    eventually([&] { return client.request("POST", "/v1/jobs", large)->status == 201; });
    eventually([&] { return metric(client, "perdure_bytes_in_flight") == 0; });
}

TEST(Overload, counts_bodies_that_do_not_say_their_length) {
    LiveServer server({.bytes_in_flight = 4 * mib});
    ApiClient client(server.client_options());
    std::string chunk = "100000\r\n" + std::string(mib, ' ') + "\r\n";
    std::string endless =
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 6; ++i) endless += chunk;
    EXPECT_EQ(exchange(server.port(), endless).substr(0, 12), "HTTP/1.1 429");
    EXPECT_EQ(metric(client, "perdure_bytes_in_flight"), 0U);
}

TEST(Overload, by_answers_that_nobody_reads_refuses_only_further_answers) {
    LiveServer server({.bytes_in_flight = 4 * mib, .write_timeout = minutes(1)});
    ApiClient client(server.client_options());
    std::string jobs = R"({"jobs":[{"argv":["true"]})";
    for (int i = 1; i < 1000; ++i) jobs += R"(,{"argv":["true"]})";
    ASSERT_EQ(client.request("POST", "/v1/jobs", jobs + "]}")->status, 201U);
    const std::string list = "/v1/jobs?limit=1000";  // more than 100 KB
    const auto request = "GET " + list + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    asio::io_context context;
    std::vector<tcp::socket> deaf;
    // What the kernel takes is not ours; so many requests that it does not take all answers.
    for (int i = 0; i < 40; ++i) {
        auto& socket = deaf.emplace_back(context);
        socket.open(tcp::v4());
        socket.set_option(tcp::socket::receive_buffer_size(4096));
        socket.connect({asio::ip::address_v4::loopback(), server.port()});
        std::string many;
        for (int n = 0; n < 60; ++n) many += request;
        asio::write(socket, asio::buffer(many));
    }
    eventually([&] { return client.request("GET", list)->status == 429; });
    EXPECT_LE(metric(client, "perdure_bytes_in_flight"), 4 * mib);
    EXPECT_EQ(client.request("POST", "/v1/jobs", R"({"argv":["true"]})")->status, 201U);
}

TEST(Overload, by_a_worker_that_does_not_read_ends_its_stream_and_heartbeats_bring_the_rest) {
    LiveServer server({.bytes_in_flight = 4 * mib});
    ApiClient client(server.client_options());
    const auto opened = client.request(
        "POST", "/v1/worker/open",
        R"({"protocol":1,"directory":{"machine":"m","boot":"b","device":1,"inode":1},"life":1,)"
        R"("worker":"w","slots":90,"offer":{},"on_disk":[]})");
    ASSERT_TRUE(opened && opened->ok());
    const std::string session = opened->body.at("session").as_string().c_str();
    asio::io_context context;
    tcp::socket deaf(context);
    deaf.open(tcp::v4());
    deaf.set_option(tcp::socket::receive_buffer_size(4096));
    deaf.connect({asio::ip::address_v4::loopback(), server.port()});
    asio::write(deaf, asio::buffer(fmt::format("GET /v1/worker/stream?session={} HTTP/1.1\r\n"
                                               "Host: localhost\r\n\r\n",
                                               session)));
    const auto job = R"({"kind":"k","args":")" + std::string(300'000, 'x') + R"("})";
    for (int i = 0; i < 60 && metric(client, "perdure_streams_cut_total") == 0; ++i) {
        ASSERT_EQ(client.request("POST", "/v1/jobs", job)->status, 201U);
        EXPECT_LT(metric(client, "perdure_bytes_in_flight"), stream_share(4 * mib) + 400'000);
    }
    eventually([&] { return metric(client, "perdure_streams_cut_total") == 1; });
    eventually([&] { return metric(client, "perdure_bytes_in_flight") == 0; });
    const auto beat = client.request(
        "POST", "/v1/worker/heartbeat",
        fmt::format(R"({{"session":"{}","number":1,"seen":0,"slots":90,"offer":{{}},)"
                    R"("lease_us":10000000,"attempts":[]}})",
                    session));
    ASSERT_EQ(beat->status, 200U);
    const auto& resent = beat->body.at("resent").as_array();
    // Not all at once, and the lowest numbers first. On a slow machine some have been given up.
    EXPECT_LE(resent.size(), stream_share(4 * mib) / 300'000);
    for (std::size_t i = 1; i < resent.size(); ++i)
        EXPECT_LT(resent[i - 1].at("number").to_number<std::size_t>(),
                  resent[i].at("number").to_number<std::size_t>());
}

TEST(Overload, is_not_kept_up_by_a_body_that_stalls) {
    LiveServer server({.bytes_in_flight = 4 * mib, .body_stall = milliseconds(50)});
    const auto answer = exchange(server.port(), header_of(2 * mib) + std::string(1000, ' '));
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 408") << answer;
    ApiClient client(server.client_options());
    EXPECT_EQ(metric(client, "perdure_bytes_in_flight"), 0U);
}

}  // namespace
}  // namespace perdure::wire_tests
