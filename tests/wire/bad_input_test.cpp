// What bad input gets: a stable code, a sentence, the path; nothing is stored, the server lives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/wire/live_server.h"

namespace perdure::wire_tests {
namespace {

struct BadInput {
    std::string name;
    std::string method;
    std::string target;
    std::string body;
    unsigned status;
    std::string code;
    std::string path;
};

std::string nested(std::size_t depth) {
    return R"({"argv":["true"],"args":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

std::string job(const std::string& fields) { return R"({"argv":["true"],)" + fields + "}"; }

std::string many(std::size_t count) {
    std::string list = R"({"jobs":[)";
    for (std::size_t i = 0; i < count; ++i) list += R"({"argv":["t"]},)";
    list.back() = ']';
    return list + "}";
}

const std::string p = "POST";
const std::string g = "GET";
const std::string jobs = "/v1/jobs";
const std::string none = "/v1/jobs/0000000000001";

std::vector<BadInput> bad_json() {
    return {
        {"malformed", p, jobs, R"({"argv":["true")", 400, "invalid", "$"},
        {"no json at all", p, jobs, "hello", 400, "invalid", "$"},
        {"an empty body", p, jobs, "", 400, "invalid", "$"},
        {"more after the end", p, jobs, R"({"argv":["true"]} x)", 400, "invalid", "$"},
        {"too deep", p, jobs, nested(40), 400, "invalid", "$"},
        {"very deep", p, jobs, nested(100'000), 400, "invalid", "$"},
        {"not an object", p, jobs, R"(["true"])", 400, "invalid", "$"},
        {"null", p, jobs, "null", 400, "invalid", "$"},
        {"unknown field", p, jobs, job(R"("colour":"red")"), 400, "invalid", "$.colour"},
        {"unknown timeout", p, jobs, job(R"("timeouts":{"x":"1s"})"), 400, "invalid",
         "$.timeouts.x"},
        {"wrong type", p, jobs, job(R"("priority":"high")"), 400, "invalid", "$.priority"},
        {"out of range", p, jobs, job(R"("priority":10)"), 400, "invalid", "$.priority"},
        {"a number that does not fit", p, jobs, job(R"("args":123456789012345678901234567890)"),
         400, "invalid", "$.args"},
        {"an infinite number", p, jobs, job(R"("args":1e999)"), 400, "invalid", "$.args"},
        {"a fraction of a priority", p, jobs, job(R"("priority":1.5)"), 400, "invalid",
         "$.priority"},
        {"a negative priority", p, jobs, job(R"("priority":-1)"), 400, "invalid", "$.priority"},
        {"the same name twice", p, jobs, job(R"("queue":"a","queue":"b")"), 400, "invalid",
         "$.queue"},
        {"the same name twice, below", p, jobs, job(R"("args":[1,{"a":1,"a":2}])"), 400, "invalid",
         "$.args[1].a"},
        {"a lone surrogate", p, jobs, job(R"("args":"\ud800")"), 400, "invalid", "$"},
        {"a surrogate in raw bytes", p, jobs, job("\"args\":\"\xED\xA0\x80\""), 400, "invalid",
         "$"},
        {"invalid utf-8", p, jobs, job("\"args\":\"\xFF\""), 400, "invalid", "$"},
        {"a NUL", p, jobs, job(R"("args":"a\u0000b")"), 400, "invalid", "$.args"},
        {"a NUL in a name", p, jobs, job(R"("args":{"a\u0000":1})"), 400, "invalid", ""},
    };
}

std::vector<BadInput> bad_jobs() {
    return {
        {"a word that is no text", p, jobs, R"({"argv":["echo",1]})", 400, "invalid", "$.argv[1]"},
        {"no command", p, jobs, "{}", 400, "invalid", "$"},
        {"an empty command", p, jobs, R"({"argv":[""]})", 400, "invalid", "$.argv"},
        {"a bad queue", p, jobs, job(R"("queue":"Big Queue")"), 400, "invalid", "$.queue"},
        {"a bad share", p, jobs, job(R"("share":"Big Share")"), 400, "invalid", "$.share"},
        {"a bad duration", p, jobs, job(R"("timeouts":{"run":"soon"})"), 400, "invalid",
         "$.timeouts.run"},
        {"a timeout of zero", p, jobs, job(R"("timeouts":{"run":0})"), 400, "invalid",
         "$.timeouts"},
        {"a bad time", p, jobs, job(R"("run_at":"tomorrow")"), 400, "invalid", "$.run_at"},
        {"a time and a delay", p, jobs, job(R"("run_at":"2026-11-15T09:30:00Z","delay":1)"), 400,
         "invalid", "$"},
        {"a delay that is too long", p, jobs, job(R"("delay":"3651d")"), 400, "invalid", "$.delay"},
        {"a delay that overflows", p, jobs, job(R"("delay":"106751991d")"), 400, "invalid",
         "$.delay"},
        {"a delay in a batch that is too long", p, jobs,
         R"({"jobs":[{"argv":["t"]},{"argv":["t"],"delay":9000000000000}]})", 400, "invalid",
         "$.jobs[1].delay"},
        {"once with retries", p, jobs, job(R"("effects":"once","retries":1)"), 400, "invalid",
         "$.retries"},
        {"an unknown limit", p, jobs, job(R"("limits":["nobody"])"), 400, "invalid", "$.limits"},
        {"an empty idempotency key", p, jobs, job(R"("idempotency_key":"")"), 400, "invalid",
         "$.idempotency_key"},
        {"a batch with one bad item", p, jobs,
         R"({"jobs":[{"argv":["true"]},{"argv":["true"],"effects":"twice"}]})", 400, "invalid",
         "$.jobs[1].effects"},
        {"a batch whose last limit is unknown", p, jobs,
         R"({"jobs":[{"argv":["true"]},{"argv":["true"],"limits":["nobody"]}]})", 400, "invalid",
         "$.jobs[1].limits"},
        {"a batch that contradicts itself", p, jobs,
         R"({"jobs":[{"argv":["a"],"idempotency_key":"k"},{"argv":["b"],"idempotency_key":"k"}]})",
         409, "conflict", "$.jobs[1].idempotency_key"},
        {"an empty batch", p, jobs, R"({"jobs":[]})", 400, "invalid", "$.jobs"},
        {"a batch that is too long", p, jobs, many(10'001), 400, "invalid", "$.jobs"},
        {"a field beside a batch", p, jobs, R"({"jobs":[{"argv":["t"]}],"queue":"q"})", 400,
         "invalid", "$.queue"},
    };
}

std::vector<BadInput> bad_targets() {
    return {
        {"no such job", g, none, "", 404, "not_found", ""},
        {"no id", g, "/v1/jobs/hello", "", 404, "not_found", ""},
        {"cancel no such job", p, none + "/cancel", "", 404, "not_found", ""},
        {"logs of no such job", g, none + "/logs", "", 404, "not_found", ""},
        {"wait for no such job", g, none + "/wait", "", 404, "not_found", ""},
        {"no such route", g, "/v2/jobs", "", 404, "not_found", ""},
        {"wrong method", "PUT", jobs, "{}", 405, "invalid", ""},
        {"unknown method", "BREW", jobs, "", 405, "invalid", ""},
        {"unknown parameter", g, "/v1/jobs?colour=red", "", 400, "invalid", "?colour"},
        {"unknown state", g, "/v1/jobs?state=happy", "", 400, "invalid", "?state"},
        {"a limit of nothing", g, "/v1/jobs?limit=0", "", 400, "invalid", "?limit"},
        {"no cursor", g, "/v1/jobs?before=x", "", 400, "invalid", "?before"},
        {"a malformed target", g, "/v1/jobs?queue=%zz", "", 400, "invalid", ""},
        {"a long target", g, "/v1/jobs?queue=" + std::string(9'000, 'q'), "", 414, "invalid", ""},
        {"a limit without a maximum", "PUT", "/v1/limits/l", "{}", 400, "invalid", "$.max"},
        {"a limit of zero", "PUT", "/v1/limits/l", R"({"max":0})", 400, "invalid", "$.max"},
        {"a bad name of a queue", p, "/v1/queues/A%20B/pause", "", 400, "invalid", ""},
        {"a large body", p, jobs, job(R"("args":")" + std::string(17U << 20U, 'x') + "\""), 413,
         "invalid", ""},
        {"large args", p, jobs, job(R"("args":")" + std::string(2U << 20U, 'x') + "\""), 400,
         "invalid", "$.args"},
    };
}

std::vector<BadInput> bad_workers() {
    return {
        {"a worker without a name", p, "/v1/worker/open",
         R"({"protocol":1,"directory":{"machine":"m","boot":"b","device":1,"inode":1},"life":1})",
         400, "invalid", "$.worker"},
        {"a worker of an invalid tenant", p, "/v1/worker/open",
         R"({"protocol":1,"directory":{"machine":"m","boot":"b","device":1,"inode":1},"life":1,)"
         R"("worker":"w","slots":1,"offer":{"tenant":"A B"},"on_disk":[]})",
         400, "invalid", "$.offer.tenant"},
        {"a worker of the future", p, "/v1/worker/open", R"({"protocol":99})", 400, "invalid",
         "$.protocol"},
        {"a heartbeat of nobody", p, "/v1/worker/heartbeat", "{}", 400, "invalid", "$.session"},
        {"a report that is none", p, "/v1/worker/report",
         R"({"session":"0000000000001","items":[{"kind":"ended"}]})", 400, "invalid",
         "$.items[0].job"},
        {"an end without a cause", p, "/v1/worker/report",
         R"({"session":"0000000000001","items":[{"job":"0000000000001","epoch":1,"kind":"ended",)"
         R"("end":{"ran":"yes"}}]})",
         400, "invalid", "$.items[0].end.cause"},
        {"a result that is no JSON", p, "/v1/worker/report",
         R"({"session":"0000000000001","items":[{"job":"0000000000001","epoch":1,"kind":"ended",)"
         R"("end":{"cause":"exit","ran":"yes"},"evidence":{"result":"rows: 3"}}]})",
         400, "invalid", "$.items[0].evidence.result"},
        {"a stream of nobody", g, "/v1/worker/stream?session=0000000000001", "", 404, "not_found",
         ""},
        {"logs that are none", p, "/v1/worker/logs?session=0000000000001", "hello", 415, "invalid",
         ""},
    };
}

TEST(BadInput, gets_a_stable_code_a_sentence_and_a_path_and_stores_nothing) {
    LiveServer server;
    ApiClient client(server.client_options());
    std::vector<BadInput> table;
    for (const auto& part : {bad_json(), bad_jobs(), bad_targets(), bad_workers()})
        table.insert(table.end(), part.begin(), part.end());
    for (const auto& bad : table) {
        SCOPED_TRACE(bad.name);
        const auto reply = client.request(bad.method, bad.target, bad.body);
        ASSERT_TRUE(reply) << reply.error().what;
        EXPECT_EQ(reply->status, bad.status) << reply->text.substr(0, 300);
        EXPECT_EQ(to_string(reply->error().code), bad.code);
        EXPECT_FALSE(reply->error().what.empty());
        const auto path = bad.path.empty() ? reply->path() : bad.path;
        EXPECT_EQ(reply->path(), path) << reply->text.substr(0, 300);
    }
    const auto left = client.request("GET", "/v1/jobs");
    ASSERT_TRUE(left);
    EXPECT_EQ(left->text, R"({"jobs":[]})") << "something was stored";
}

// Such a request once aborted the server, each time that it was sent.
TEST(BadInput, a_batch_that_waits_for_a_found_job_of_another_tenant_is_refused) {
    LiveServer server;
    ApiClient client(server.client_options());
    const std::string first = R"({"tenant":"a","argv":["true"],"idempotency_key":"k"})";
    const auto made = client.request("POST", "/v1/jobs", first);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->status, 201U);
    const auto batch =
        R"({"jobs":[)" + first + R"(,{"tenant":"b","argv":["true"],"after":[{"index":0}]}]})";
    for (int i = 0; i < 2; ++i) {
        const auto reply = client.request("POST", "/v1/jobs", batch);
        ASSERT_TRUE(reply) << reply.error().what;
        EXPECT_EQ(reply->status, 400U) << reply->text;
        EXPECT_EQ(reply->path(), "$.jobs[1].after");
    }
    EXPECT_TRUE(client.request("GET", "/livez"));
}

struct RawInput {
    std::string name;
    std::string bytes;
    std::string answer;  // how it begins
};

TEST(BadInput, that_is_no_http_is_answered_and_the_connection_closed) {
    LiveServer server({.body_max = std::size_t{1} << 20});
    const std::string post = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n";
    std::string endless = post + "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 100; ++i) endless += "8000\r\n" + std::string(0x8000, ' ') + "\r\n";
    const std::vector<RawInput> table = {
        {"no http", "hello there\r\n\r\n", "HTTP/1.1 400 "},
        {"a large header", post + "X: " + std::string(20'000, 'x') + "\r\n\r\n", "HTTP/1.1 431 "},
        {"a header without end", post + "X: " + std::string(20'000, 'x'), "HTTP/1.1 431 "},
        {"a chunked body without end", endless, "HTTP/1.1 413 "},
        {"a length that is too much", post + "Content-Length: 99999999999\r\n\r\n",
         "HTTP/1.1 413 "},
        {"a length that is none", post + "Content-Length: many\r\n\r\n", "HTTP/1.1 400 "},
        {"another content type",
         post + "Content-Type: text/plain\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
         "HTTP/1.1 415 "},
        {"a page of another site",
         post + "Origin: http://evil.example\r\nContent-Length: 17\r\n\r\n{\"argv\":[\"true\"]}",
         "HTTP/1.1 400 "},
        {"a name that somebody made point here",
         "GET /v1/jobs HTTP/1.1\r\nHost: evil.example:7373\r\n\r\n", "HTTP/1.1 400 "},
        {"no host", "GET /livez HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
        {"no host in HTTP/1.0", "GET /livez HTTP/1.0\r\n\r\n", "HTTP/1.1 400 "},
        {"an empty host", "GET /livez HTTP/1.1\r\nHost:\r\n\r\n", "HTTP/1.1 400 "},
        {"two hosts", "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
         "HTTP/1.1 400 "},
        {"two hosts, of which the second is another's",
         "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 400 "},
        {"two origins",
         "GET /livez HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
         "Origin: http://evil.example\r\n\r\n",
         "HTTP/1.1 400 "},
        {"two content types",
         post + "Content-Type: application/json\r\nContent-Type: text/plain\r\n"
                "Content-Length: 2\r\n\r\n{}",
         "HTTP/1.1 400 "},
        {"two lengths", post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 400 "},
        {"two lengths that differ", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
         "HTTP/1.1 400 "},
        {"a length and chunks",
         post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         "HTTP/1.1 400 "},
        {"chunks twice",
         post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         "HTTP/1.1 400 "},
        {"a bad chunk", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 "},
    };
    for (const auto& raw : table) {
        SCOPED_TRACE(raw.name);
        EXPECT_EQ(exchange(server.port(), raw.bytes).substr(0, raw.answer.size()), raw.answer);
    }
    ApiClient client(server.client_options());
    EXPECT_TRUE(client.request("GET", "/livez"));
}

TEST(BadInput, of_any_kind_leaves_the_server_alive) {
    LiveServer server;
    std::mt19937 random(7);
    const std::string good =
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Length: 30\r\n\r\n{\"argv\":[\"true\"],\"colour\":1}";
    for (int i = 0; i < 500; ++i) {
        auto bytes = good;
        for (auto damage = random() % 5; damage > 0; --damage)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        if (i % 5 == 0) bytes.resize(random() % bytes.size());
        // Some of it waits for more to come: the peer leaves in the middle.
        exchange(server.port(), bytes, [](const std::string&) { return true; });
    }
    ApiClient client(server.client_options());
    const auto left = client.request("GET", "/v1/jobs");
    ASSERT_TRUE(left);
    EXPECT_EQ(left->text, R"({"jobs":[]})");
}

}  // namespace
}  // namespace perdure::wire_tests
