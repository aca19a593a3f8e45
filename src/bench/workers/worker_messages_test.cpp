#include "bench/workers/worker_messages.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace perdure::bench {
namespace {

const std::vector<Assigned> two = {{.job = "06na5x0g00020", .epoch = "1", .number = 7},
                                   {.job = "06na5x0g00021", .epoch = "3", .number = 8}};

TEST(WorkerMessages, are_json) {
    EXPECT_NO_THROW(boost::json::parse(open_body({.directory = 4, .life = 2, .slots = 3})));
    EXPECT_NO_THROW(boost::json::parse(
        heartbeat_body({.session = "s", .number = 1, .attempts = attempts_list(two)})));
    for (const auto what : {asks, has_started, has_succeeded, has_failed})
        EXPECT_NO_THROW(boost::json::parse(report_body("s", two, what))) << what;
}

TEST(WorkerMessages, every_attempt_is_listed) {
    const auto list = boost::json::parse(attempts_list(two));
    ASSERT_EQ(list.as_array().size(), 2U);
    EXPECT_EQ(list.at(1).at("number").as_int64(), 8);
    EXPECT_EQ(attempts_list({}), "[]");
}

TEST(WorkerMessages, answers_come_in_the_order_of_the_items) {
    const std::string body = R"({"answers":["ok","again","fenced"],"tick":3})";
    EXPECT_EQ(answers_in(body), (std::vector<std::string_view>{"ok", "again", "fenced"}));
    EXPECT_TRUE(answers_in(R"({"answers":[]})").empty());
    EXPECT_TRUE(answers_in(R"({"error":{"code":"fenced"}})").empty());
}

TEST(WorkerStream, an_assignment_counts_when_its_line_is_complete) {
    const std::string line =
        R"({"assign":{"job":"06na5x0g00020","epoch":2,"number":15,"terms":{}}})";
    std::string text = "HTTP/1.1 200 OK\r\n\r\n5a\r\n" + line + "\n\r\n1\r\n\n\r\n5a\r\n" + line;
    std::vector<Assigned> come;
    take_assignments(text, come);
    ASSERT_EQ(come.size(), 1U);
    EXPECT_EQ(come[0].job, "06na5x0g00020");
    EXPECT_EQ(come[0].epoch, "2");
    EXPECT_EQ(come[0].number, 15U);
    text += "\n";
    take_assignments(text, come);
    EXPECT_EQ(come.size(), 2U);
    EXPECT_EQ(text, "");
}

TEST(WorkerStream, other_messages_are_passed_over) {
    std::string text = "{\"kill\":{\"job\":\"06na5x0g00020\",\"epoch\":1}}\n{\"drain\":true}\n";
    std::vector<Assigned> come;
    take_assignments(text, come);
    EXPECT_TRUE(come.empty());
}

}  // namespace
}  // namespace perdure::bench
