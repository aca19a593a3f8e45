#include "client/reply_error.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(Refusal, is_what_the_server_said) {
    const auto refusal = read_refusal(
        409, R"({"error":{"code":"fenced","message":"stop","path":"$.a","page":"p"}})");
    EXPECT_EQ(refusal.error.code, Errc::fenced);
    EXPECT_EQ(refusal.error.what, "stop");
    EXPECT_EQ(refusal.path, "$.a");
}

TEST(Refusal, in_another_format_is_told_by_its_status) {
    EXPECT_EQ(read_refusal(503, "<html>").error.code, Errc::unavailable);
    EXPECT_EQ(read_refusal(504, "").error.code, Errc::outcome_unknown);
    EXPECT_EQ(read_refusal(404, "[]").error.code, Errc::not_found);
    EXPECT_EQ(read_refusal(418, R"({"error":7})").error.code, Errc::invalid);
    EXPECT_EQ(read_refusal(500, "{}").error.code, Errc::corrupt);
    EXPECT_FALSE(read_refusal(500, "{}").error.what.empty());
}

}  // namespace
}  // namespace perdure
