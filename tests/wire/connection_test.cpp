// Connections: kept alive, pipelined, cut off when they are late, cheap when they are idle.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/wire/live_server.h"
#include "tests/wire/live_worker.h"

namespace perdure::wire_tests {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

TEST(Connection, answers_pipelined_requests_in_order) {
    LiveServer server;
    std::string requests;
    for (int i = 0; i < 50; ++i) requests += "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    requests += "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    const auto answers = exchange(server.port(), requests);
    EXPECT_EQ(count(answers, "HTTP/1.1 200 OK"), 50U);
    EXPECT_EQ(count(answers, "HTTP/1.1 404 Not Found"), 1U);
    EXPECT_GT(answers.find("404"), answers.rfind("200 OK"));
}

TEST(Connection, takes_a_request_byte_by_byte) {
    LiveServer server;
    const std::string body = R"({"argv":["true"]})";
    const auto request = fmt::format(
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
        "{}\r\n\r\n{}",
        body.size(), body);
    asio::io_context context;
    tcp::socket socket(context);
    socket.connect({asio::ip::address_v4::loopback(), server.port()});
    socket.set_option(tcp::no_delay(true));
    for (const char byte : request) asio::write(socket, asio::buffer(&byte, 1));
    std::string answer(12, ' ');
    socket.read_some(asio::buffer(answer));
    EXPECT_EQ(answer, "HTTP/1.1 201");
}

TEST(Connection, takes_chunked_bodies_and_a_client_that_waits_for_a_word) {
    LiveServer server;
    const std::string head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    EXPECT_EQ(exchange(server.port(), head + "Transfer-Encoding: chunked\r\n\r\n"
                                             "6\r\n{\"argv\r\nb\r\n\":[\"true\"]}\r\n0\r\n\r\n")
                  .substr(0, 12),
              "HTTP/1.1 201");
    const auto welcome =
        exchange(server.port(), head + "Expect: 100-continue\r\nContent-Length: 17\r\n\r\n",
                 [](const std::string& answer) { return answer.ends_with("\r\n\r\n"); });
    EXPECT_EQ(welcome, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(Connection, that_sends_its_header_too_slowly_is_told_so_and_closed) {
    LiveServer server({.header_timeout = milliseconds(50)});
    const auto answer = exchange(server.port(), "GET /livez HTTP/1.1\r\nHo");
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 408");
    EXPECT_NE(answer.find("\"unavailable\""), std::string::npos);
}

TEST(Connection, that_sends_its_body_too_slowly_is_told_so_and_closed) {
    LiveServer server({.body_timeout = milliseconds(50)});
    const auto answer = exchange(
        server.port(), "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 408");
}

TEST(Connection, that_is_idle_for_too_long_is_closed_without_a_word) {
    LiveServer server({.idle_timeout = milliseconds(50)});
    EXPECT_EQ(exchange(server.port(), ""), "");
}

TEST(Connection, beyond_the_maximum_is_refused_and_there_is_room_again_later) {
    LiveServer server({.connections_max = 2});
    {
        asio::io_context context;
        tcp::socket one(context);
        tcp::socket two(context);
        for (auto* socket : {&one, &two})
            socket->connect({asio::ip::address_v4::loopback(), server.port()});
        // The client that asked whether the server is ready may still be there: it has a place.
        eventually([&] { return exchange(server.port(), "").substr(0, 12) == "HTTP/1.1 503"; });
    }
    ApiClient client(server.client_options());
    eventually([&] {
        const auto reply = client.request("GET", "/livez");
        return reply && reply->ok();
    });
}

TEST(Connection, ten_thousand_idle_ones_do_not_hurt) {
    LiveServer server;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    // Both ends are in this process.
    const auto many = std::min<std::size_t>(10'000, limit.rlim_cur / 2 - 100);
    asio::io_context context;
    std::vector<tcp::socket> sockets;
    for (std::size_t i = 0; i < many; ++i)
        sockets.emplace_back(context).connect({asio::ip::address_v4::loopback(), server.port()});
    ApiClient client(server.client_options());
    eventually([&] {
        const auto metrics = client.request("GET", "/metrics");
        return metrics && metrics->text.find(fmt::format("perdure_connections {}", many + 1)) !=
                              std::string::npos;
    });
    const auto reply = client.request("POST", "/v1/jobs", R"({"argv":["true"]})");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 201U);
}

TEST(Connection, of_a_worker_that_does_not_read_is_cut_off) {
    LiveServer server({.write_timeout = milliseconds(100)});
    ApiClient client(server.client_options());
    const auto opened = client.request(
        "POST", "/v1/worker/open",
        R"({"protocol":1,"directory":{"machine":"m","boot":"b","device":1,"inode":1},"life":1,)"
        R"("worker":"w","slots":90,"offer":{},"on_disk":[]})");
    ASSERT_TRUE(opened && opened->ok());
    const std::string session = opened->body.at("session").as_string().c_str();
    asio::io_context context;
    tcp::socket deaf(context);
    deaf.connect({asio::ip::address_v4::loopback(), server.port()});
    const auto request = fmt::format(
        "GET /v1/worker/stream?session={} HTTP/1.1\r\nHost: localhost\r\n\r\n", session);
    asio::write(deaf, asio::buffer(request));
    const std::string job = R"({"kind":"k","args":")" + std::string(1'000'000, 'x') + R"("})";
    std::string jobs = R"({"jobs":[)" + job;
    for (int i = 1; i < 15; ++i) jobs += "," + job;
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.request("POST", "/v1/jobs", jobs + "]}")->ok());
    eventually([&] {
        const auto metrics = client.request("GET", "/metrics");
        return metrics && metrics->text.find("perdure_streams_cut_total 1") != std::string::npos;
    });
}

// The descriptors of this process run out between the connecting and the accepting of each.
TEST(Connection, is_accepted_once_there_are_descriptors_again) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer needs descriptors of its own to look at an object";
#endif
    LiveServer server;
    ApiClient client(server.client_options());
    ASSERT_TRUE(client.request("GET", "/livez"));  // has its connection, and keeps it
    asio::io_context context;
    std::vector<tcp::socket> sockets;
    for (int i = 0; i < 5; ++i) sockets.emplace_back(context).open(tcp::v4());
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    auto none_left = limit;
    none_left.rlim_cur = 3;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
    boost::system::error_code failure;
    for (auto& socket : sockets)
        socket.connect({asio::ip::address_v4::loopback(), server.port()}, failure);
    eventually([&] {
        const auto metrics = client.request("GET", "/metrics");
        return metrics && metrics->text.find("accept_failures_total 0") == std::string::npos;
    });
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ASSERT_FALSE(failure);
    const std::string request = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (auto& socket : sockets) {
        std::string answer(15, ' ');
        asio::write(socket, asio::buffer(request));
        socket.read_some(asio::buffer(answer));
        EXPECT_EQ(answer, "HTTP/1.1 200 OK");
    }
}

TEST(Connection, of_http_1_0_is_answered_and_closed) {
    LiveServer server;
    const auto answer = exchange(server.port(), "GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(answer.substr(0, 15), "HTTP/1.1 200 OK");
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
}

TEST(Listen, a_busy_port_is_told_in_a_sentence) {
    LiveServer first;
    boost::asio::io_context context;
    AsioClock clock(context);
    Entropy random;
    MemoryStore store{Timing{}};
    MemoryBlobs blobs;
    Server server({.store = store, .clock = clock, .random = random, .fatal = {}}, Timing{}, Log());
    ApiServer busy(server, store, blobs, clock, Log(), {.port = first.port()});
    const auto listening = busy.listen();
    ASSERT_TRUE(listening.is(Errc::conflict));
    EXPECT_NE(listening.error().what.find("is taken"), std::string::npos);
    ApiServer nowhere(server, store, blobs, clock, Log(), {.address = "nowhere"});
    EXPECT_TRUE(nowhere.listen().is(Errc::invalid));
    ApiServer open_to_all(server, store, blobs, clock, Log(), {.address = "0.0.0.0"});
    EXPECT_TRUE(open_to_all.listen().is(Errc::invalid));
}

TEST(Stop, ends_streams_and_waits_and_closes_what_is_idle) {
    LiveServer server;
    LiveWorker worker({server.url()}, "w1", 1);
    ApiClient client(server.client_options());
    eventually([&] {
        const auto workers = client.request("GET", "/v1/workers");
        return workers && workers->text.find("w1") != std::string::npos;
    });
    asio::io_context context;
    tcp::socket idle(context);
    idle.connect({asio::ip::address_v4::loopback(), server.port()});
    server.stop();
    eventually([&] { return server.finished(); });
    EXPECT_TRUE(client.request("GET", "/livez").is(Errc::unavailable));
}

TEST(Client, says_that_nobody_answers) {
    ApiClient client({.urls = {"http://127.0.0.1:9"}});
    EXPECT_TRUE(client.request("GET", "/livez").is(Errc::unavailable));
    ApiClient wrong({.urls = {"ftp://x/y"}});
    EXPECT_TRUE(wrong.request("GET", "/livez").is(Errc::invalid));
}

TEST(Client, can_be_interrupted_while_it_waits) {
    LiveServer server;
    auto options = server.client_options();
    int asked = 0;
    options.interrupted = [&] { return ++asked > 1; };
    ApiClient client(options);
    const auto submitted = client.request("POST", "/v1/jobs", R"({"argv":["true"]})");
    ASSERT_TRUE(submitted);
    const std::string id = submitted->body.at("id").as_string().c_str();
    const auto reply = client.request("GET", "/v1/jobs/" + id + "/wait?for=60s", {}, minutes(2));
    EXPECT_TRUE(reply.is(Errc::unavailable));
}

TEST(Client, learns_that_its_server_stops_while_it_follows) {
    LiveServer server;
    ApiClient client(server.client_options());
    const auto submitted = client.request("POST", "/v1/jobs", R"({"argv":["true"]})");
    ASSERT_TRUE(submitted);
    const std::string id = submitted->body.at("id").as_string().c_str();
    std::thread stopper([&] { server.stop(); });
    const auto reply = client.request("GET", "/v1/jobs/" + id + "/wait?for=60s", {}, minutes(2));
    stopper.join();
    // Answered 202 before the end, or the connection was refused: never a hang.
    EXPECT_TRUE(!reply || reply->status == 202) << reply->text;
}

}  // namespace
}  // namespace perdure::wire_tests
