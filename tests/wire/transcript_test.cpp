// Every transcript of docs/protocol is what the server really says.
#include "tests/wire/transcript.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <sstream>

#include "tests/wire/live_server.h"
#include "wire/log_frames.h"

namespace perdure::wire_tests {
namespace {

namespace json = boost::json;

std::string page(const std::string& name) {
    std::ifstream file(fmt::format("{}/protocol/{}", PERDURE_DOCS, name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class Replay {
public:
    void play(const std::string& name) {
        const auto blocks = blocks_of(page(name));
        EXPECT_GT(blocks.size(), 5U);
        for (const auto& block : blocks) {
            SCOPED_TRACE(fmt::format("{}:{}: {}", name, block.line, block.first_line));
            if (block.kind == "http") call(block);
            if (block.kind == "stream") read_stream(block);
            if (block.kind == "logs") send_logs(block);
        }
    }

private:
    void compare(const Block& block, unsigned status, const json::value& given) {
        EXPECT_EQ(block.status, status) << json::serialize(given);
        EXPECT_EQ(difference(json::parse(block.answer), given, names_), "");
    }

    void call(const Block& block) {
        const auto line = translate(block.first_line, names_);
        const auto space = line.find(' ');
        const auto reply = client_.request(line.substr(0, space), line.substr(space + 1),
                                           translate(block.body, names_));
        ASSERT_TRUE(reply) << reply.error().what;
        compare(block, reply->status, reply->body);
    }

    // The block's first line is the session, the rest the first message that must come.
    void read_stream(const Block& block) {
        const auto target = "/v1/worker/stream?session=" + translate(block.first_line, names_);
        std::string line;
        const auto reply = client_.stream(target, {}, [&](std::string_view bytes) {
            line += bytes;
            line.erase(0, line.find_first_not_of('\n'));
            return line.find('\n') == std::string::npos;
        });
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->status, 200U) << reply->text;
        EXPECT_EQ(difference(json::parse(block.body), json::parse(line.substr(0, line.find('\n'))),
                             names_),
                  "");
    }

    // SESSION JOB EPOCH OFFSET TEXT: one chunk.
    void send_logs(const Block& block) {
        std::istringstream words(translate(block.first_line, names_));
        std::string session;
        std::string job;
        LogChunk chunk;
        words >> session >> job >> chunk.attempt.epoch.value >> chunk.offset >> chunk.bytes;
        chunk.attempt.job = *JobId::parse(job);
        const auto body = log_frames({chunk});
        const auto answer =
            exchange(server_.port(),
                     fmt::format("POST /v1/worker/logs?session={} HTTP/1.1\r\nHost: localhost\r\n"
                                 "Content-Type: application/octet-stream\r\nConnection: close\r\n"
                                 "Content-Length: {}\r\n\r\n{}",
                                 session, body.size(), body));
        const auto status = static_cast<unsigned>(std::stoul(answer.substr(9, 3)));
        compare(block, status, json::parse(answer.substr(answer.find("\r\n\r\n") + 4)));
    }

    LiveServer server_;
    ApiClient client_{server_.client_options()};
    Names names_;
};

TEST(ProtocolPages, http_is_what_the_server_says) { Replay().play("http.md"); }

TEST(ProtocolPages, worker_is_what_the_server_says) { Replay().play("worker.md"); }

TEST(Transcript, tells_a_wrong_answer_from_a_right_one) {
    Names names;
    const auto differs = [&](std::string_view wanted, std::string_view given) {
        return !difference(json::parse(wanted), json::parse(given), names).empty();
    };
    EXPECT_FALSE(differs(R"({"a": "…"})", R"({"a": 1})"));
    EXPECT_TRUE(differs(R"({"a": 1})", R"({"a": 2})"));
    EXPECT_TRUE(differs(R"({"a": 1})", R"({"a": 1, "b": 2})"));
    EXPECT_FALSE(differs(R"({"a": 1, "…": "…"})", R"({"a": 1, "b": 2})"));
    EXPECT_TRUE(differs(R"({"a": 1, "b": 2})", R"({"a": 1})"));
    EXPECT_FALSE(differs(R"(["0000000000001"])", R"(["0000000000007"])"));
    EXPECT_TRUE(differs(R"(["0000000000001"])", R"(["0000000000008"])"));
    EXPECT_TRUE(differs("[1]", "[1, 2]"));
}

}  // namespace
}  // namespace perdure::wire_tests
