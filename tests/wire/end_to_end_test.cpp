// Server and worker over real sockets: jobs run, print, end, are cancelled and drained.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "tests/wire/live_server.h"
#include "tests/wire/live_worker.h"

namespace perdure::wire_tests {
namespace {

namespace json = boost::json;

class EndToEnd : public testing::Test {
protected:
    json::value call(std::string_view method, const std::string& target, std::string body = {}) {
        auto reply = take(client_.request(method, target, std::move(body), minutes(1)));
        EXPECT_TRUE(reply) << target << ": " << reply.error().what;
        return reply ? *reply : json::value(json::object{});
    }
    std::string submit(const std::string& job) {
        return call("POST", "/v1/jobs", job).at("id").as_string().c_str();
    }
    std::string state(const std::string& id) {
        return call("GET", "/v1/jobs/" + id).at("state").as_string().c_str();
    }
    json::value wait(const std::string& id) {
        return call("GET", "/v1/jobs/" + id + "/wait?for=60s");
    }

    LiveServer server_;
    ApiClient client_{server_.client_options()};
};

TEST_F(EndToEnd, a_job_runs_prints_and_leaves_its_result) {
    LiveWorker worker({server_.url()}, "w1", 4);
    const auto id = submit(R"({"argv":["say","hello"]})");
    const auto result = wait(id);
    EXPECT_EQ(result.at("state"), "succeeded");
    EXPECT_EQ(json::serialize(result.at("result")), R"({"said":"hello"})");
    EXPECT_EQ(result.at("exit_code"), 0);
    const auto logs = client_.request("GET", "/v1/jobs/" + id + "/logs");
    ASSERT_TRUE(logs);
    EXPECT_EQ(logs->text, "hello\n");
    const auto shown = call("GET", "/v1/jobs/" + id);
    EXPECT_EQ(shown.at("attempts").as_array().size(), 1U);
    EXPECT_EQ(shown.at("attempts").at(0).at("worker"), "w1");
}

TEST_F(EndToEnd, a_job_that_must_ask_runs_too) {
    LiveWorker worker({server_.url()}, "w1", 4);
    EXPECT_EQ(wait(submit(R"({"argv":["say","x"],"effects":"once"})")).at("state"), "succeeded");
    EXPECT_EQ(wait(submit(R"({"argv":["say","x"],"key":"k"})")).at("state"), "succeeded");
}

TEST_F(EndToEnd, a_failure_is_told_with_its_exit_code) {
    LiveWorker worker({server_.url()}, "w1", 1);
    const auto result = wait(submit(R"({"argv":["fail"]})"));
    EXPECT_EQ(result.at("state"), "failed");
    EXPECT_EQ(result.at("exit_code"), 3);
}

TEST_F(EndToEnd, logs_are_followed_until_the_job_is_cancelled) {
    LiveWorker worker({server_.url()}, "w1", 1);
    const auto id = submit(R"({"argv":["wait"]})");
    std::string seen;
    StreamHead head;
    ApiClient follower(server_.client_options());
    const auto reply = follower.stream(
        "/v1/jobs/" + id + "/logs?follow=true", [&](const StreamHead& h) { head = h; },
        [&](std::string_view bytes) {
            seen += bytes;
            const auto cancelled = call("POST", "/v1/jobs/" + id + "/cancel");
            EXPECT_EQ(cancelled.at("outcome"), "kill_ordered");
            return true;
        });
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ(reply->status, 200U);
    EXPECT_EQ(seen, "waiting\n");
    EXPECT_EQ(head.epoch, 1U);
    EXPECT_EQ(state(id), "cancelled");
}

TEST_F(EndToEnd, logs_go_on_at_an_offset) {
    LiveWorker worker({server_.url()}, "w1", 1);
    const auto id = submit(R"({"argv":["say","0123456789"]})");
    wait(id);
    std::string seen;
    const auto reply = client_.stream(
        "/v1/jobs/" + id + "/logs?epoch=1&offset=4&follow=attempt",
        [](const StreamHead& head) { EXPECT_EQ(head.offset, 4U); },
        [&](std::string_view bytes) {
            seen += bytes;
            return true;
        });
    ASSERT_TRUE(reply);
    EXPECT_EQ(seen, "456789\n");
    const auto none = client_.request("GET", "/v1/jobs/" + id + "/logs?epoch=2&follow=attempt");
    ASSERT_TRUE(none);
    EXPECT_EQ(none->status, 404U);
}

TEST_F(EndToEnd, why_names_what_stands_in_the_way) {
    LiveWorker worker({server_.url()}, "w1", 4);
    const auto holder = submit(R"({"argv":["wait"],"key":"k"})");
    eventually([&] { return state(holder) == "running"; });
    const auto blocked = submit(R"({"argv":["say","x"],"key":"k"})");
    eventually([&] { return state(blocked) == "blocked"; });
    const auto why = json::serialize(call("GET", "/v1/jobs/" + blocked + "/why"));
    EXPECT_NE(why.find("key `k` is held by job " + holder), std::string::npos) << why;
    const auto runs = json::serialize(call("GET", "/v1/jobs/" + holder + "/why"));
    EXPECT_NE(runs.find("it runs on worker `w1`"), std::string::npos) << runs;
    call("POST", "/v1/jobs/" + holder + "/cancel");
    EXPECT_EQ(wait(blocked).at("state"), "succeeded");
}

TEST_F(EndToEnd, why_names_also_what_will_block_a_job_that_is_not_due) {
    LiveWorker worker({server_.url()}, "w1", 4);
    const auto holder = submit(R"({"argv":["wait"],"key":"k"})");
    eventually([&] { return state(holder) == "running"; });
    call("POST", "/v1/queues/later/pause");
    const auto job = submit(R"({"argv":["say","x"],"key":"k","queue":"later","delay":"1h"})");
    const auto why = json::serialize(call("GET", "/v1/jobs/" + job + "/why"));
    for (const auto& part : {std::string("it is not due yet"), "key `k` is held by job " + holder,
                             std::string("queue `later` is paused")})
        EXPECT_NE(why.find(part), std::string::npos) << why;
    call("POST", "/v1/jobs/" + holder + "/cancel");
}

TEST_F(EndToEnd, a_worker_that_is_told_to_drain_leaves) {
    LiveWorker worker({server_.url()}, "w1", 1);
    eventually([&] { return call("GET", "/v1/workers").at("workers").as_array().size() == 1; });
    eventually([&] { return call("POST", "/v1/workers/w1/drain").at("sessions") == 1; });
    eventually([&] { return worker.finished(); });
}

TEST_F(EndToEnd, a_quarantined_job_is_released_discarded_and_tried_again) {
    LiveWorker worker({server_.url()}, "w1", 1);
    const auto id = submit(R"({"argv":["crash"],"policy":"never","share":"ann"})");
    const auto ended = wait(id);
    EXPECT_EQ(ended.at("state"), "quarantined");
    EXPECT_EQ(ended.at("signal"), 11);
    const auto refused = client_.request("POST", "/v1/jobs/" + id + "/retry");
    EXPECT_EQ(refused->status, 409U);
    call("POST", "/v1/jobs/" + id + "/release", "{}");
    eventually([&] { return state(id) == "quarantined"; });
    EXPECT_EQ(call("GET", "/v1/jobs/" + id).at("generation"), 2);
    EXPECT_EQ(call("POST", "/v1/jobs/" + id + "/discard").at("state"), "quarantined");
    const std::string again =
        call("POST", "/v1/jobs/" + id + "/retry").at("id").as_string().c_str();
    EXPECT_EQ(call("GET", "/v1/jobs/" + again).at("retry_of").as_string(), id);
    EXPECT_EQ(call("GET", "/v1/jobs/" + again).at("share"), "ann");
    const auto why = call("GET", "/v1/jobs/" + id + "/why");
    EXPECT_EQ(why.at("blockers").as_array().size(), 0U);
    EXPECT_EQ(why.at("history").as_array().size(), 2U);
}

TEST_F(EndToEnd, the_same_delay_under_the_same_key_is_the_same_job) {
    const std::string job = R"({"argv":["true"],"delay":"1h","idempotency_key":"k"})";
    const auto id = submit(job);
    EXPECT_EQ(submit(job), id);
    const auto other = client_.request("POST", "/v1/jobs",
                                       R"({"argv":["true"],"delay":"2h","idempotency_key":"k"})");
    EXPECT_EQ(other->status, 409U);
}

TEST_F(EndToEnd, a_list_is_read_page_by_page) {
    std::vector<std::string> ids;
    for (int i = 0; i < 25; ++i) ids.push_back(submit(R"({"argv":["true"]})"));
    std::vector<std::string> seen;
    std::string target = "/v1/jobs?limit=10";
    while (true) {
        const auto page = call("GET", target);
        for (const auto& job : page.at("jobs").as_array())
            seen.emplace_back(job.at("id").as_string().c_str());
        const auto* next = page.as_object().if_contains("next");
        if (!next) break;
        target = std::string("/v1/jobs?limit=10&before=") + next->as_string().c_str();
    }
    std::reverse(seen.begin(), seen.end());
    EXPECT_EQ(seen, ids);
}

TEST_F(EndToEnd, a_thousand_jobs_end_and_the_store_is_sound) {
    LiveWorker worker({server_.url()}, "w1", 64);
    std::string jobs = R"({"jobs":[)";
    for (int i = 0; i < 1000; ++i) jobs += R"({"kind":"noop"},)";
    jobs.back() = ']';
    call("POST", "/v1/jobs", jobs + "}");
    eventually([&] {
        const auto queues = call("GET", "/v1/queues").at("queues").as_array();
        const auto* done = queues.at(0).at("jobs").as_object().if_contains("succeeded");
        return done && *done == 1000;
    });
    EXPECT_EQ(call("GET", "/v1/fsck").at("clean"), true);
}

TEST_F(EndToEnd, a_worker_goes_on_when_its_server_is_the_second_in_its_list) {
    LiveWorker worker({"http://127.0.0.1:9", server_.url()}, "w1", 1);
    EXPECT_EQ(wait(submit(R"({"argv":["say","x"]})")).at("state"), "succeeded");
}

}  // namespace
}  // namespace perdure::wire_tests
