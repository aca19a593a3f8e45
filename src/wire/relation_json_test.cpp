#include "wire/relation_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace perdure {
namespace {

std::optional<ParseError> read(const std::string& text, JobRequest& into) {
    JsonTree root;
    if (auto parse_error = parse_strict(text, root)) return parse_error;
    Reading reading;
    read_job(JsonCursor(root, reading), into);
    return reading.parse_error;
}

std::string path_of_misfit(const std::string& text) {
    JobRequest request;
    const auto parse_error = read(text, request);
    return parse_error ? parse_error->path : "none";
}

TEST(RelationJson, a_callback_takes_over_queue_share_and_tenant_and_is_tried_for_ever) {
    JobRequest request;
    // The order of the fields does not matter.
    ASSERT_FALSE(
        read(R"({"on_end": [{"argv": ["b"]}, {"argv": ["c"], "queue": "own", "share": "bob",
                         "policy": "never"}], "argv": ["a"], "queue": "q", "tenant": "t",
                         "share": "ann"})",
             request));
    ASSERT_EQ(request.spec.callbacks.size(), 2U);
    const auto& first = *request.spec.callbacks[0].spec;
    EXPECT_EQ(request.spec.callbacks[0].on, Trigger::end);
    EXPECT_EQ(first.queue, "q");
    EXPECT_EQ(first.tenant, "t");
    EXPECT_EQ(first.share, "ann");
    EXPECT_EQ(first.policy.name, PolicyName::forever);
    const auto& second = *request.spec.callbacks[1].spec;
    EXPECT_EQ(second.queue, "own");
    EXPECT_EQ(second.share, "bob");
    EXPECT_EQ(second.policy.name, PolicyName::never);
}

TEST(RelationJson, callbacks_are_in_one_order_whatever_the_authors) {
    JobRequest a;
    JobRequest b;
    ASSERT_FALSE(read(R"({"on_end": [{"kind": "e"}], "on_success": [{"kind": "s"}]})", a));
    ASSERT_FALSE(read(R"({"on_success": [{"kind": "s"}], "on_end": [{"kind": "e"}]})", b));
    for (const auto* request : {&a, &b}) {
        ASSERT_EQ(request->spec.callbacks.size(), 2U);
        EXPECT_EQ(request->spec.callbacks[0].on, Trigger::success);
        EXPECT_EQ(request->spec.callbacks[1].on, Trigger::end);
    }
}

TEST(RelationJson, after_names_jobs_by_id_or_by_their_place_in_the_batch) {
    JobRequest request;
    ASSERT_FALSE(read(R"({"kind": "k", "after": ["0000000000007", {"index": 2, "on": "end"},
                         {"job": "0000000000008", "on": "failure"}]})",
                      request));
    ASSERT_EQ(request.spec.after.size(), 3U);
    EXPECT_EQ(request.spec.after[0], (After{JobId{7}, Trigger::success}));
    EXPECT_EQ(request.spec.after[1].on, Trigger::end);
    EXPECT_EQ(request.spec.after[2], (After{JobId{8}, Trigger::failure}));
    ASSERT_EQ(request.after_earlier.size(), 1U);
    EXPECT_EQ(request.after_earlier[0].position, 1U);
    EXPECT_EQ(request.after_earlier[0].index, 2U);
}

TEST(RelationJson, refuses_what_does_not_fit_and_names_its_path) {
    EXPECT_EQ(path_of_misfit(R"({"kind": "k", "on_sucess": []})"), "$.on_sucess");
    EXPECT_EQ(path_of_misfit(R"({"on_end": [{"argv": 7}]})"), "$.on_end[0].argv");
    EXPECT_EQ(path_of_misfit(R"({"on_end": [{"kind": "k", "delay": "1s"}]})"), "$.on_end[0]");
    EXPECT_EQ(path_of_misfit(R"({"after": [{"on": "end"}]})"), "$.after[0]");
    EXPECT_EQ(path_of_misfit(R"({"after": [{"job": "0000000000007", "index": 1}]})"), "$.after[0]");
    EXPECT_EQ(path_of_misfit(R"({"after": [{"index": 0, "on": "win"}]})"), "$.after[0].on");
}

TEST(RelationJson, what_was_asked_is_shown_as_it_was_asked) {
    const std::string text = R"({"argv":["a"],"on_failure":[{"argv":["b"],"policy":"forever",)"
                             R"("on_end":[{"argv":["c"]}]}],"after":["0000000000007"]})";
    JobRequest request;
    ASSERT_FALSE(read(text, request));
    std::string shown;
    JsonWriter out(shown);
    out.begin_object();
    write_relations(out, request.spec, SpecFields::all);
    out.end_object();
    JobRequest again;
    ASSERT_FALSE(read(shown, again));
    ASSERT_EQ(again.spec.callbacks.size(), 1U);
    const auto& callback = *again.spec.callbacks[0].spec;
    EXPECT_EQ(callback.argv, std::vector<std::string>{"b"});
    ASSERT_EQ(callback.callbacks.size(), 1U);
    EXPECT_EQ(callback.callbacks[0].spec->argv, std::vector<std::string>{"c"});
    EXPECT_EQ(again.spec.after, request.spec.after);
}

TEST(RelationJson, inputs_come_back) {
    const std::vector<Input> sent = {
        {JobId{1}, 2, JobState::failed, Cause::exit, -3, R"({"a":[1,2]})", false},
        {JobId{2}, 1, JobState::expired, Cause::timeout_queue, std::nullopt, "", true}};
    std::string text;
    JsonWriter out(text);
    write_inputs(out, sent);
    JsonTree root;
    ASSERT_FALSE(parse_quick(text, root));
    Reading reading;
    std::vector<Input> read_back;
    read_inputs(JsonCursor(root, reading), read_back);
    EXPECT_FALSE(reading.parse_error);
    EXPECT_EQ(read_back, sent);
}

TEST(RelationJson, a_result_that_is_no_json_goes_on_as_text) {
    std::string text;
    JsonWriter out(text);
    write_input(out, {.job = JobId{1}, .result = "no {json"});
    EXPECT_NE(text.find(R"("result":"no {json")"), std::string::npos) << text;
}

}  // namespace
}  // namespace perdure
