#include "wire/webhook_args.h"

#include <gtest/gtest.h>

#include "wire/job_json.h"
#include "wire/json_reader.h"

namespace perdure {
namespace {

TEST(WebhookTarget, is_taken_apart) {
    const auto plain = parse_target("http://a.example");
    EXPECT_EQ(plain->port, 80);
    EXPECT_EQ(plain->path, "/");
    EXPECT_EQ(plain->authority(), "a.example");
    EXPECT_EQ(parse_target("https://a.example?x=1")->path, "/?x=1");
    EXPECT_EQ(parse_target("https://a.example:8444/x")->authority(), "a.example:8444");
    const auto v6 = parse_target("https://[2606:4700::1]:8443/x");
    EXPECT_EQ(v6->host, "2606:4700::1");
    EXPECT_EQ(v6->authority(), "[2606:4700::1]:8443");
}

TEST(WebhookTarget, shows_people_no_path_that_may_hold_a_token) {
    EXPECT_EQ(parse_target("https://a.example/hook/s3cr3t?t=1")->text(), "https://a.example");
}

TEST(WebhookTarget, refuses_what_cannot_be_sent) {
    for (const std::string_view url : {"",
                                       "a.example",
                                       "ftp://a.example",
                                       "file:///etc/passwd",
                                       "http://",
                                       "http:///x",
                                       "http://user@a.example",
                                       "http://a:b@a.example",
                                       "http://a.example:0",
                                       "http://a.example:",
                                       "http://a.example:65536",
                                       "http://a.example:22",
                                       "https://a.example:25/x",
                                       "http://a.example:x",
                                       "http://a b.example",
                                       "http://a.example/ x",
                                       "http://a.example/\r\nHost: b",
                                       "http://[::1",
                                       "http://[]",
                                       "http://[::1]x",
                                       "http://a\\b.example",
                                       "http://b\xc3\xbc.example"})
        EXPECT_TRUE(parse_target(url).is(Errc::invalid)) << url;
}

std::optional<ParseError> submitted(const std::string& job) {
    JsonTree value;
    if (auto parse_error = parse_strict(job, value)) return parse_error;
    Reading reading;
    JobRequest request;
    read_job(JsonCursor(value, reading), request);
    return reading.parse_error;
}

std::string webhook_to(const std::string& url) {
    return R"({"kind":"perdure.webhook","args":{"url":")" + url + R"(","body":1}})";
}

TEST(WebhookArgs, that_can_never_be_sent_are_refused_at_submit) {
    const auto refusal = [](const std::string& url) {
        const auto parse_error = submitted(webhook_to(url));
        return parse_error ? parse_error->path + ": " + parse_error->what : "accepted";
    };
    EXPECT_EQ(refusal("ftp://x/"), "$.args: url: it must begin with http:// or https://");
    EXPECT_EQ(refusal("https://u:p@x.example/"),
              "$.args: url: no user or password may stand in it; sign with `secret` instead");
    EXPECT_EQ(refusal("http://1.2.3.4:22/"),
              "$.args: url: 22 is no port for webhooks: only 80, 443, and 1024 and above are");
    // Which addresses are spoken to is a setting of the worker.
    EXPECT_EQ(refusal("http://127.0.0.1:8080/"), "accepted");
    EXPECT_EQ(refusal("https://there.example/in"), "accepted");
}

TEST(WebhookArgs, of_callbacks_and_their_callbacks_are_refused_too) {
    const auto callback = R"({"argv":["true"],"on_end":[)" + webhook_to("ftp://x/") + "]}";
    EXPECT_EQ(submitted(callback)->path, "$.on_end[0].args");
    const auto deeper = R"({"argv":["true"],"on_failure":[)" + callback + "]}";
    EXPECT_EQ(submitted(deeper)->path, "$.on_failure[0].on_end[0].args");
}

TEST(WebhookArgs, of_other_kinds_are_nobodys_business) {
    EXPECT_FALSE(submitted(R"({"kind":"mail.send","args":{"url":"ftp://x/"}})"));
}

}  // namespace
}  // namespace perdure
