#include "webhook/message.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

Assignment assignment(std::string args) {
    JobSpec spec;
    spec.kind = "perdure.webhook";
    spec.args = std::move(args);
    Assignment given{.attempt = {JobId{77}, {3}}};
    given.spec = std::make_shared<JobSpec>(std::move(spec));
    return given;
}

TEST(WebhookMessage, is_made_from_its_args) {
    const auto message = message_for(
        assignment(R"({"url": "https://there.example:8443/in?a=b#c", "body": {"b": 1, "a": [2.5]},)"
                   R"( "secret": "billing", "headers": {"X-Team": "blue"}})"));
    ASSERT_TRUE(message) << message.error().what;
    EXPECT_TRUE(message->target.tls);
    EXPECT_EQ(message->target.host, "there.example");
    EXPECT_EQ(message->target.port, 8443);
    EXPECT_EQ(message->target.path, "/in?a=b");
    EXPECT_EQ(message->body, R"({"a":[2.5],"b":1})");
    EXPECT_EQ(message->secret, "billing");
    ASSERT_EQ(message->headers.size(), 1U);
    EXPECT_EQ(message->headers[0].first, "x-team");
}

TEST(WebhookMessage, has_the_same_id_at_every_try) {
    auto first = assignment(R"({"url": "http://x.example", "body": 1})");
    auto second = first;
    second.attempt.epoch = {4};
    EXPECT_EQ(message_for(first)->id, first.attempt.job.text());
    EXPECT_EQ(message_for(second)->id, first.attempt.job.text());
}

TEST(WebhookMessage, of_a_callback_has_the_id_of_what_it_tells_of) {
    auto given = assignment(R"({"url": "http://x.example", "body": 1})");
    auto spec = *given.spec;
    spec.callback_of = CallbackOf{.job = JobId{5}, .generation = 2, .number = 1};
    given.spec = std::make_shared<JobSpec>(spec);
    EXPECT_EQ(message_for(given)->id, JobId{5}.text() + ".g2.n1");
}

// A callback of the end of job 5, made 1,700,000,000.123 s after 1970.
Assignment told_of(JobState state, std::string args) {
    auto given = assignment(std::move(args));
    auto spec = *given.spec;
    spec.callback_of = CallbackOf{.job = JobId{5}, .generation = 2, .number = 0};
    given.spec = std::make_shared<JobSpec>(spec);
    given.attempt.job = JobId{IdSource(1, 0).next(WallTime{1'700'000'000'123'456})};
    given.inputs = {{.job = JobId{5}, .generation = 2, .state = state}};
    return given;
}
const std::string url_alone = R"({"url": "http://x.example"})";

TEST(WebhookMessage, of_a_callback_without_a_body_tells_how_its_job_ended) {
    auto given = told_of(JobState::succeeded, url_alone);
    given.inputs[0].exit_code = 0;
    given.inputs[0].result = R"({"rows": 7})";
    const auto message = message_for(given);
    ASSERT_TRUE(message) << message.error().what;
    EXPECT_EQ(message->id, JobId{5}.text() + ".g2.n0");
    EXPECT_EQ(message->body,
              R"({"type":"job.succeeded","job":"0000000000005","generation":2,)"
              R"("state":"succeeded","cause":"exit","exit_code":0,"result":{"rows": 7},)"
              R"("timestamp":"2023-11-14T22:13:20.123000Z"})");
}

TEST(WebhookMessage, names_its_type_by_the_end_and_leaves_out_what_there_is_not) {
    for (const auto state : {JobState::succeeded, JobState::failed, JobState::expired,
                             JobState::cancelled, JobState::quarantined}) {
        const auto name = std::string(to_string(state));
        const auto body = message_for(told_of(state, url_alone))->body;
        EXPECT_TRUE(body.starts_with(R"({"type":"job.)" + name + "\"")) << body;
        EXPECT_NE(body.find(R"("state":")" + name + "\""), std::string::npos) << body;
        EXPECT_EQ(body.find("exit_code"), std::string::npos) << body;
        EXPECT_EQ(body.find("result"), std::string::npos) << body;
    }
}

TEST(WebhookMessage, of_a_callback_is_the_same_at_every_try) {
    auto first = told_of(JobState::failed, url_alone);
    auto second = first;
    second.attempt.epoch = {4};
    EXPECT_EQ(message_for(first)->id, message_for(second)->id);
    EXPECT_EQ(message_for(first)->body, message_for(second)->body);
}

TEST(WebhookMessage, of_a_callback_with_a_body_is_that_body) {
    const auto given = told_of(JobState::failed, R"({"url": "http://x.example", "body": 1})");
    EXPECT_EQ(message_for(given)->body, "1");
}

TEST(WebhookMessage, that_could_tell_of_none_or_several_needs_a_body) {
    auto given = told_of(JobState::failed, url_alone);
    given.inputs.push_back(given.inputs.front());
    EXPECT_TRUE(message_for(given).is(Errc::invalid));
    given.inputs.clear();
    EXPECT_TRUE(message_for(given).is(Errc::invalid));
}

TEST(WebhookMessage, refuses_what_cannot_be_sent) {
    for (const std::string args :
         {"", "{}", "[]", "{", R"({"url": 1, "body": 1})", R"({"url": "http://x.example"})",
          R"({"url": "http://x.example", "body": 1, "verb": "GET"})",
          R"({"url": "http://x.example", "body": 1, "secret": "../etc/passwd"})",
          R"({"url": "http://x.example", "body": 1, "secret": ""})",
          R"({"url": "http://x.example", "body": 1, "headers": {"Host": "y"}})",
          R"({"url": "http://x.example", "body": 1, "headers": {"webhook-id": "y"}})",
          R"({"url": "http://x.example", "body": 1, "headers": {"a b": "y"}})",
          R"({"url": "http://x.example", "body": 1, "headers": {"a": "y\r\nb: c"}})",
          R"({"url": "http://x.example", "body": 1, "headers": {"a": 1}})"})
        EXPECT_TRUE(message_for(assignment(args)).is(Errc::invalid)) << args;
}

}  // namespace
}  // namespace perdure
