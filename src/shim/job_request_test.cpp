#include "shim/job_request.h"

#include <gtest/gtest.h>

namespace perdure::job_request_test {
namespace {

using Kind = JobRequest::Kind;

TEST(JobRequestText, is_understood_as_the_page_says) {
    EXPECT_EQ(parse_request("begin\n").request->kind, Kind::begin);
    const auto progress = parse_request("progress 100 all done\nmore");
    EXPECT_EQ(progress.request->percent, 100);
    EXPECT_EQ(progress.request->body, "all done");
    EXPECT_EQ(progress.consumed, 22U);
    EXPECT_EQ(parse_request("progress 0\n").request->body, "");
    EXPECT_EQ(parse_request("verdict retry\n").request->verdict, Cause::verdict_retry);
    EXPECT_EQ(parse_request("verdict permanent\n").request->verdict, Cause::verdict_permanent);
    EXPECT_EQ(parse_request("verdict conflict\n").request->verdict, Cause::conflict);
    EXPECT_EQ(parse_request("verdict disconnected\n").request->verdict, Cause::disconnected);
    const auto checkpoint = parse_request("checkpoint 3\na\nbrest");
    EXPECT_EQ(checkpoint.request->body, "a\nb");
    EXPECT_EQ(checkpoint.consumed, 16U);
    const auto call = parse_request("call POST /v1/jobs?x=1 2\n{}rest");
    EXPECT_EQ(call.request->kind, Kind::call);
    EXPECT_EQ(call.request->method, "POST");
    EXPECT_EQ(call.request->target, "/v1/jobs?x=1");
    EXPECT_EQ(call.request->body, "{}");
}

TEST(JobRequestText, waits_for_the_rest) {
    for (const std::string_view text :
         {"", "beg", "begin", "checkpoint 3\nab", "call GET /v1/jobs 3\nab"}) {
        const auto parsed = parse_request(text);
        EXPECT_FALSE(parsed.request) << text;
        EXPECT_EQ(parsed.problem, "") << text;
    }
}

TEST(JobRequestText, is_refused_with_a_reason) {
    const std::string long_line = "progress 1 " + std::string(5'000, 'x');
    for (const std::string& text :
         {std::string("\n"), std::string("begin now\n"), std::string("progress\n"),
          std::string("progress 101\n"), std::string("progress -1\n"), std::string("verdict\n"),
          std::string("verdict retry now\n"), std::string("verdict at soon\n"),
          std::string("checkpoint\n"), std::string("checkpoint 1048577\n"),
          std::string("result 1\n{"), std::string("call PUT /v1/jobs 0\n"),
          std::string("call GET v1/jobs 0\n"), std::string("call GET /v1/jobs\n"),
          std::string("call GET /v1/jobs x\n"), long_line}) {
        const auto parsed = parse_request(text);
        EXPECT_FALSE(parsed.request) << text;
        EXPECT_NE(parsed.problem, "") << text;
    }
}

TEST(JobRequestText, has_dates_with_an_offset) {
    EXPECT_EQ(parse_date("1970-01-01T00:00:00Z"), WallTime{0});
    EXPECT_EQ(parse_date("2026-11-15T08:00:00Z"), WallTime{seconds(1'794'729'600).us});
    EXPECT_EQ(parse_date("2026-11-15T10:00:00+02:00"), WallTime{seconds(1'794'729'600).us});
    EXPECT_EQ(parse_date("2024-02-29T00:00:00.25Z"), WallTime{seconds(1'709'164'800).us + 250'000});
    for (const std::string_view text :
         {"", "2026-11-15", "2026-11-15T08:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
          "2026-11-15T24:00:00Z", "2026-11-15 08:00:00Z", "2026-11-15T08:00:00.Z",
          "2026-11-15T08:00:00Zx", "2026-11-15T08:00:00+0200"})
        EXPECT_FALSE(parse_date(text)) << text;
}

}  // namespace
}  // namespace perdure::job_request_test
