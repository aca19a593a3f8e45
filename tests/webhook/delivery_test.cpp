// Deliveries to receivers of every kind: polite ones, and those that mean no good.
#include "webhook/webhooks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>

#include "platform/asio_clock.h"
#include "webhook/signature.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;

constexpr std::string_view secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n";

// Takes one request, gives one answer, and then the same block again and again if there is one.
struct Receiver {
    std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    std::string flood;
    bool silent = false;
    std::string request;
    std::size_t sent = 0;
    bool ended = false;  // the other side has closed
};

Task<void> receive(Acceptor& acceptor, Receiver& receiver) {
    Failure failure;
    Socket socket(acceptor.get_executor());
    co_await acceptor.async_accept(socket, asio::redirect_error(use_task, failure));
    std::array<char, 4096> block;
    while (!failure && receiver.request.find("\r\n\r\n{") == std::string::npos) {
        const auto space = asio::buffer(block);
        const auto got =
            co_await socket.async_read_some(space, asio::redirect_error(use_task, failure));
        receiver.request.append(block.data(), got);
    }
    if (!receiver.silent) {
        const auto bytes = asio::buffer(receiver.answer);
        co_await asio::async_write(socket, bytes, asio::redirect_error(use_task, failure));
    }
    while (!failure && !receiver.flood.empty()) {
        const auto bytes = asio::buffer(receiver.flood);
        receiver.sent +=
            co_await asio::async_write(socket, bytes, asio::redirect_error(use_task, failure));
    }
    while (!failure) {
        const auto space = asio::buffer(block);
        co_await socket.async_read_some(space, asio::redirect_error(use_task, failure));
    }
    receiver.ended = true;
}

class WebhooksTest : public testing::Test {
protected:
    WebhooksTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-webhook-XXXXXX";
        options_.secrets = ::mkdtemp(pattern.data());
        options_.allow_private = {*parse_network("127.0.0.1")};
        options_.host = "here";
        std::ofstream(options_.secrets + "/billing") << secret;
        std::filesystem::permissions(options_.secrets + "/billing",
                                     std::filesystem::perms::owner_read);
    }
    ~WebhooksTest() override { std::filesystem::remove_all(options_.secrets); }

    std::string url() const {
        return fmt::format("http://127.0.0.1:{}/in", acceptor_.local_endpoint().port());
    }
    Assignment assignment(const std::string& to, const std::string& more = "") const {
        JobSpec spec;
        spec.kind = webhook_kind;
        spec.args = fmt::format(R"({{"url": "{}", "body": {{"n": 1}}{}}})", to, more);
        Assignment given{.attempt = {JobId{77}, {1}}};
        given.spec = std::make_shared<JobSpec>(std::move(spec));
        return given;
    }
    static Task<void> keep(std::shared_ptr<InProcessWork> work,
                           std::shared_ptr<std::optional<InProcessEnd>> into) {
        auto end = co_await work->run();
        into->emplace(std::move(end));
    }
    InProcessEnd deliver(const Assignment& given) {
        Webhooks webhooks(clock_, options_);
        auto work = webhooks.prepare(given);
        EXPECT_TRUE(work);
        work_ = *work;
        asio::co_spawn(context_, receive(acceptor_, receiver_), asio::detached);
        auto end = std::make_shared<std::optional<InProcessEnd>>();
        asio::co_spawn(context_, keep(work_, end), asio::detached);
        while (!*end && context_.run_one_for(std::chrono::seconds(30)) > 0)
            ;
        EXPECT_TRUE(*end);
        return end->value_or(InProcessEnd{});
    }
    void until_the_connection_ends() {
        while (!receiver_.ended && context_.run_one_for(std::chrono::seconds(30)) > 0)
            ;
        EXPECT_TRUE(receiver_.ended);
    }
    std::string header(const std::string& name) const {
        const auto found = receiver_.request.find("\r\n" + name + ": ");
        if (found == std::string::npos) return {};
        const auto begin = found + name.size() + 4;
        return receiver_.request.substr(begin, receiver_.request.find('\r', begin) - begin);
    }

    asio::io_context context_;
    AsioClock clock_{context_};
    WebhookOptions options_;
    Acceptor acceptor_{context_.get_executor(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    Receiver receiver_;
    std::shared_ptr<InProcessWork> work_;
};

TEST_F(WebhooksTest, a_delivery_is_a_signed_post_of_json) {
    const auto end = deliver(assignment(url(), R"(, "secret": "billing", "headers": {"A": "b"})"));
    EXPECT_TRUE(end.end.succeeded);
    EXPECT_EQ(end.evidence->result, R"({"status":200,"answer":"ok"})");
    EXPECT_EQ(end.evidence->host, "here");
    EXPECT_TRUE(receiver_.request.starts_with("POST /in HTTP/1.1\r\n")) << receiver_.request;
    EXPECT_TRUE(receiver_.request.ends_with("\r\n\r\n{\"n\":1}")) << receiver_.request;
    EXPECT_EQ(header("Content-Length"), "7");
    EXPECT_EQ(header("a"), "b");
    EXPECT_EQ(header("webhook-id"), JobId{77}.text());
    const auto at = std::stoll(header("webhook-timestamp"));
    EXPECT_EQ(header("webhook-signature"),
              signature_of(*parse_secrets(secret),
                           {.id = JobId{77}.text(), .timestamp = at, .body = R"({"n":1})"}));
}

TEST_F(WebhooksTest, every_other_answer_is_a_failure_with_its_reason) {
    receiver_.answer = "HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy";
    const auto end = deliver(assignment(url()));
    EXPECT_FALSE(end.end.succeeded);
    EXPECT_EQ(end.end.cause, Cause::disconnected);
    EXPECT_NE(end.evidence->detail.find("answered 503"), std::string::npos);
    EXPECT_EQ(end.evidence->result, R"({"status":503,"answer":"busy"})");
}

TEST_F(WebhooksTest, gone_is_for_ever) {
    receiver_.answer = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n";
    EXPECT_EQ(deliver(assignment(url())).end.cause, Cause::verdict_permanent);
}

TEST_F(WebhooksTest, a_redirect_is_not_followed_and_says_where_it_leads) {
    receiver_.answer =
        "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
        "Location: http://169.254.169.254/\r\n\r\n";
    const auto end = deliver(assignment(url()));
    EXPECT_EQ(end.end.cause, Cause::disconnected);
    EXPECT_NE(end.evidence->detail.find("`http://169.254.169.254/`; redirects are not followed"),
              std::string::npos)
        << end.evidence->detail;
}

TEST_F(WebhooksTest, an_early_hint_is_not_yet_the_answer) {
    receiver_.answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    EXPECT_TRUE(deliver(assignment(url())).end.succeeded);
}

TEST_F(WebhooksTest, an_answer_without_end_is_cut_off) {
    receiver_.answer = "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n";
    receiver_.flood = std::string(64 * 1024, 'x');
    const auto end = deliver(assignment(url()));
    EXPECT_TRUE(end.end.succeeded);
    EXPECT_LT(end.evidence->result.size(), 8'192U);
    until_the_connection_ends();
    EXPECT_LT(receiver_.sent, std::size_t{64} << 20);  // what fits into the buffers of a connection
}

TEST_F(WebhooksTest, headers_without_end_are_no_answer) {
    receiver_.answer = "HTTP/1.1 200 OK\r\n";
    receiver_.flood = "X-More: of the same, again and again\r\n";
    const auto end = deliver(assignment(url()));
    EXPECT_FALSE(end.end.succeeded);
    EXPECT_EQ(end.end.cause, Cause::disconnected);
    until_the_connection_ends();
}

TEST_F(WebhooksTest, a_chunk_without_end_is_cut_off) {
    receiver_.answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    receiver_.flood = "4\r\nabcd\r\n";
    EXPECT_TRUE(deliver(assignment(url())).end.succeeded);
    until_the_connection_ends();
}

TEST_F(WebhooksTest, a_receiver_that_never_answers_is_left) {
    receiver_.silent = true;
    options_.try_max = milliseconds(50);
    const auto end = deliver(assignment(url()));
    EXPECT_EQ(end.end.cause, Cause::disconnected);
    EXPECT_NE(end.evidence->detail.find("did not answer in time"), std::string::npos);
    until_the_connection_ends();
}

TEST_F(WebhooksTest, nonsense_is_no_answer) {
    receiver_.answer = "220 mail.example ESMTP\r\n\r\n";
    EXPECT_EQ(deliver(assignment(url())).end.cause, Cause::disconnected);
}

TEST_F(WebhooksTest, nobody_there_is_disconnected) {
    const auto closed = url();
    acceptor_.close();
    const auto end = deliver(assignment(closed));
    EXPECT_EQ(end.end.cause, Cause::disconnected);
    EXPECT_NE(end.evidence->detail.find("does not answer"), std::string::npos);
}

TEST_F(WebhooksTest, an_address_that_is_not_public_is_never_connected_to) {
    options_.allow_private.clear();
    for (const std::string host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"}) {
        const auto port = acceptor_.local_endpoint().port();
        const auto end = deliver(assignment(fmt::format("http://{}:{}/in", host, port)));
        EXPECT_EQ(end.end.cause, Cause::command_unusable) << host;
        EXPECT_EQ(end.end.ran, Ran::no) << host;
        EXPECT_NE(end.evidence->detail.find("is not spoken to"), std::string::npos) << host;
    }
    EXPECT_TRUE(receiver_.request.empty());
}

TEST_F(WebhooksTest, a_missing_secret_is_another_workers_chance) {
    const auto end = deliver(assignment(url(), R"(, "secret": "other")"));
    EXPECT_EQ(end.end.cause, Cause::no_resources);
    EXPECT_EQ(end.end.ran, Ran::no);
    EXPECT_TRUE(receiver_.request.empty());
}

TEST_F(WebhooksTest, a_kill_closes_the_connection) {
    receiver_.silent = true;
    Webhooks webhooks(clock_, options_);
    work_ = *webhooks.prepare(assignment(url()));
    asio::co_spawn(context_, receive(acceptor_, receiver_), asio::detached);
    auto end = std::make_shared<std::optional<InProcessEnd>>();
    asio::co_spawn(context_, keep(work_, end), asio::detached);
    while (receiver_.request.empty()) context_.run_one_for(std::chrono::seconds(30));
    work_->stop();
    until_the_connection_ends();
    EXPECT_TRUE(*end);
}

}  // namespace
}  // namespace perdure
