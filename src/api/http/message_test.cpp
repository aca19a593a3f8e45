#include "api/http/message.h"

#include <gtest/gtest.h>

#include "api/http/problem.h"
#include "api/http/query.h"
#include "api/router.h"

namespace perdure {
namespace {

TEST(Target, is_decoded) {
    const auto request = read_target("/v1/a%20b?x=1&y=a+b%26&z&=v");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->path, "/v1/a b");
    ASSERT_EQ(request->query.size(), 4U);
    EXPECT_EQ(request->query[1].second, "a b&");
    EXPECT_EQ(request->query[2].first, "z");
}

TEST(Target, that_is_malformed_is_none) {
    for (const auto* text : {"", "x", "/%", "/%2", "/%zz", "/%00", "/?a=%g0"})
        EXPECT_FALSE(read_target(text)) << text;
}

TEST(Problem, has_a_status_for_every_code) {
    EXPECT_EQ(status_of(Errc::invalid), 400U);
    EXPECT_EQ(status_of(Errc::not_found), 404U);
    EXPECT_EQ(status_of(Errc::gone), 410U);
    EXPECT_EQ(status_of(Errc::conflict), 409U);
    EXPECT_EQ(status_of(Errc::fenced), 409U);
    EXPECT_EQ(status_of(Errc::overloaded), 429U);
    EXPECT_EQ(status_of(Errc::unavailable), 503U);
    EXPECT_EQ(status_of(Errc::outcome_unknown), 504U);
    EXPECT_EQ(status_of(Errc::corrupt), 500U);
}

TEST(Problem, tells_when_to_come_back) {
    const auto response = problem(error(Errc::unavailable, "later"));
    ASSERT_EQ(response.headers.size(), 1U);
    EXPECT_EQ(response.headers.front().first, "Retry-After");
}

TEST(Query, refuses_what_nobody_asked_for_and_what_is_given_twice) {
    const auto request = read_target("/?a=1&b=2");
    QueryReader query(*request);
    EXPECT_EQ(query.number("a", 0, 0, 9), 1U);
    ASSERT_TRUE(query.finish());
    EXPECT_EQ(query.finish()->path, "?b");
    const auto twice = read_target("/?a=1&a=2");
    QueryReader again(*twice);
    again.text("a");
    EXPECT_TRUE(again.finish());
}

TEST(Query, takes_durations_with_and_without_a_unit) {
    const auto request = read_target("/?a=90s&b=0.5&c=1h");
    QueryReader query(*request);
    EXPECT_EQ(query.duration("a", {}, hours(1)), seconds(90));
    EXPECT_EQ(query.duration("b", {}, hours(1)), milliseconds(500));
    EXPECT_FALSE(query.finish() && query.finish()->path != "?c");
    query.duration("c", {}, minutes(5));
    EXPECT_TRUE(query.finish());
}

TEST(Router, finds_routes_with_names_in_them) {
    auto request = *read_target("/v1/jobs/06na5x0g00000/cancel");
    request.method = Method::post;
    const auto routed = find_route(request);
    ASSERT_TRUE(routed.route);
    EXPECT_EQ(routed.route->pattern, "/v1/jobs/{}/cancel");
    EXPECT_EQ(request.names, std::vector<std::string>{"06na5x0g00000"});
}

TEST(Router, tells_which_methods_a_route_takes) {
    auto request = *read_target("/v1/jobs");
    request.method = Method::put;
    const auto routed = find_route(request);
    EXPECT_FALSE(routed.route);
    EXPECT_EQ(routed.refusal.status, 405U);
    ASSERT_EQ(routed.refusal.headers.size(), 1U);
    EXPECT_EQ(routed.refusal.headers.front().second, "POST, GET");
    for (const auto* path : {"/", "/v1", "/v1/jobs/", "/v1/jobs//cancel", "/v1/jobs/a/b/c"}) {
        auto unknown = *read_target(path);
        EXPECT_EQ(find_route(unknown).refusal.status, 404U) << path;
    }
}

}  // namespace
}  // namespace perdure
