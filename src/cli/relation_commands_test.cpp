// Commands that relate jobs to each other, and the options for it.
#include <gtest/gtest.h>

#include "cli/job/relation_options.h"
#include "cli/testing/cli_stage.h"

namespace perdure::cli {
namespace {

const auto accepted_batch =
    json_answer(201, R"j({"id":"06na5x0g00000","state":"ready","created":true})j");
const auto two = json_answer(201, R"j({"jobs":[{"id":"06na5x0g00000","created":true},
    {"id":"06na5x0g00001","created":true}]})j");

using Words = std::vector<std::string>;

TEST(SplitWords, goes_by_quotes_and_backslashes_and_nothing_else) {
    EXPECT_EQ(*split_words("  a  b\tc "), (Words{"a", "b", "c"}));
    EXPECT_EQ(*split_words(R"(a 'b c' "d \"e" f\ g '' $HOME;x)"),
              (Words{"a", "b c", "d \"e", "f g", "", "$HOME;x"}));
    EXPECT_TRUE(split_words("")->empty());
    EXPECT_FALSE(split_words("a 'b"));
}

TEST(Submit, sends_callbacks_and_what_to_wait_for) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted_batch);
    EXPECT_EQ(stage.run({"submit", "--quiet", "--idempotency-key", "k", "--after",
                         "06na5x0g00009:end", "--on-failure", "./page 'me now'", "--on-end",
                         R"({"kind":"tidy"})", "--", "true"}),
              0)
        << stage.err;
    EXPECT_EQ(
        stage.server.bodies[0],
        R"j({"argv":["true"],"cwd":"/here","after":[{"job":"06na5x0g00009","on":"end"}],)j"
        R"j("on_failure":[{"argv":["./page","me now"],"cwd":"/here"}],"on_end":[{"kind":"tidy"}],)j"
        R"j("idempotency_key":"k"})j");
}

TEST(Submit, notifies_by_a_webhook_at_the_end) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted_batch);
    EXPECT_EQ(stage.run({"submit", "--quiet", "--idempotency-key", "k", "--on-end", "./tidy",
                         "--notify", "https://a.example/in", "--notify", "http://b.example",
                         "--notify-secret", "billing", "--", "true"}),
              0)
        << stage.err;
    EXPECT_EQ(stage.server.bodies[0],
              R"j({"argv":["true"],"cwd":"/here","on_end":[{"argv":["./tidy"],"cwd":"/here"},)j"
              R"j({"kind":"perdure.webhook","args":{"url":"https://a.example/in",)j"
              R"j("secret":"billing"}},{"kind":"perdure.webhook",)j"
              R"j("args":{"url":"http://b.example","secret":"billing"}}],)j"
              R"j("idempotency_key":"k"})j");
}

TEST(Submit, refuses_to_notify_what_is_no_url_and_to_sign_nothing) {
    Stage stage;
    EXPECT_EQ(stage.run({"submit", "--notify", "a.example", "--", "true"}), 2);
    EXPECT_NE(stage.err.find("--notify wants a URL"), std::string::npos) << stage.err;
    EXPECT_EQ(stage.run({"submit", "--notify-secret", "billing", "--", "true"}), 2);
    EXPECT_NE(stage.err.find("give --notify URL"), std::string::npos) << stage.err;
    EXPECT_TRUE(stage.server.bodies.empty());
}

TEST(Submit, refuses_an_end_that_there_is_not) {
    Stage stage;
    EXPECT_NE(stage.run({"submit", "--after", "06na5x0g00009:win", "--", "true"}), 0);
    EXPECT_NE(stage.err.find("ID:success, ID:failure or ID:end"), std::string::npos) << stage.err;
}

TEST(Serial, is_one_batch_in_which_each_waits_for_the_one_before) {
    Stage stage;
    stage.expect("POST /v1/jobs", two);
    EXPECT_EQ(stage.run({"serial", "--quiet", "--idempotency-key", "k", "a 1", "b"}), 0)
        << stage.err;
    EXPECT_EQ(stage.out, "06na5x0g00000\n06na5x0g00001\n");
    EXPECT_EQ(stage.server.bodies[0],
              R"j({"jobs":[{"argv":["a","1"],"cwd":"/here","idempotency_key":"k.0"},)j"
              R"j({"argv":["b"],"cwd":"/here",)j"
              R"j("after":[{"index":0,"on":"success"}],"idempotency_key":"k.1"}]})j");
}

TEST(Parallel, ends_with_one_that_waits_for_all_whatever_their_end) {
    Stage stage;
    stage.system.files["parts.json"] = R"({"jobs": [{"argv": ["a"]}, {"argv": ["b"]}],
                                          "then": {"argv": ["c"]}})";
    stage.expect("POST /v1/jobs", two);
    EXPECT_EQ(stage.run({"parallel", "--quiet", "--idempotency-key", "k", "--file", "parts.json"}),
              0)
        << stage.err;
    EXPECT_EQ(stage.server.bodies[0],
              R"j({"jobs":[{"argv":["a"],"idempotency_key":"k.0"},{"argv":["b"],)j"
              R"j("idempotency_key":"k.1"},{"argv":["c"],"after":[{"index":0,"on":"end"},)j"
              R"j({"index":1,"on":"end"}],"idempotency_key":"k.2"}]})j");
}

TEST(Parallel, asks_what_to_run) {
    Stage stage;
    EXPECT_NE(stage.run({"parallel"}), 0);
    EXPECT_NE(stage.err.find("what shall be run"), std::string::npos) << stage.err;
}

TEST(AddCallback, says_whether_it_was_made_at_once) {
    Stage stage;
    stage.expect("POST /v1/jobs/06na5x0g00000/callbacks",
                 json_answer(201, R"j({"id":"06na5x0g00000","number":0})j"));
    EXPECT_EQ(stage.run({"job", "add-callback", "06na5x0g00000", "--on", "failure", "--", "x"}), 0)
        << stage.err;
    EXPECT_EQ(stage.server.bodies[0], R"j({"on":"failure","job":{"argv":["x"],"cwd":"/here"}})j");
    EXPECT_EQ(stage.out, "");

    Stage later;
    later.expect("POST /v1/jobs/06na5x0g00000/callbacks",
                 json_answer(201, R"j({"id":"06na5x0g00000","number":0,"made":"06na5x0g00005"})j"));
    EXPECT_EQ(later.run({"job", "add-callback", "06na5x0g00000", "--", "x"}), 0) << later.err;
    EXPECT_EQ(later.out, "06na5x0g00005\n");
}

TEST(JobShow, names_parent_and_callbacks) {
    Stage stage;
    stage.expect("GET /v1/jobs/06na5x0g00000", json_answer(200, R"j({"id":"06na5x0g00000",
        "state":"waiting","argv":["true"],"awaited":[{"job":"06na5x0g00007","on":"success"}],
        "callbacks":[{"number":0,"on":"end","argv":["x"],
                      "made":[{"generation":1,"job":"06na5x0g00008"}]}],"attempts":[]})j"));
    EXPECT_EQ(stage.run({"job", "show", "06na5x0g00000"}), 0) << stage.err;
    EXPECT_NE(stage.out.find("after       06na5x0g00007 (success): has not ended\n"),
              std::string::npos)
        << stage.out;
    EXPECT_NE(stage.out.find("on end      x -> 06na5x0g00008\n"), std::string::npos) << stage.out;
}

}  // namespace
}  // namespace perdure::cli
