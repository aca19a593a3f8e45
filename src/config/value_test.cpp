#include "config/value.h"

#include <gtest/gtest.h>

namespace perdure::value_test {
namespace {

TEST(HostPort, knows_loopback_from_the_world) {
    EXPECT_TRUE(parse_host_port("127.0.0.1:7373")->is_loopback());
    EXPECT_TRUE(parse_host_port("[::1]:0")->is_loopback());
    EXPECT_TRUE(parse_host_port("localhost:1")->is_loopback());
    EXPECT_FALSE(parse_host_port("0.0.0.0:7373")->is_loopback());
    EXPECT_FALSE(parse_host_port("[::]:7373")->is_loopback());
}

TEST(HostPort, refuses_what_is_no_address) {
    for (const auto* text : {"", "7373", ":7373", "host:", "host:65536", "host:-1", "::1:80",
                             "a b:1", "host:80x", "user@host:1"})
        EXPECT_EQ(parse_host_port(text), std::nullopt) << text;
}

TEST(ServerUrl, is_http_with_host_and_port) {
    EXPECT_EQ(parse_server_url("http://127.0.0.1:7373/")->port, 7373);
    EXPECT_FALSE(parse_server_url("https://127.0.0.1:7373"));
    EXPECT_FALSE(parse_server_url("http://127.0.0.1:7373/v1"));
    EXPECT_FALSE(parse_server_url("127.0.0.1:7373"));
}

TEST(Lists, are_words_between_commas) {
    EXPECT_EQ(split_list("a, b,,c "), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_TRUE(split_list(" , ").empty());
}

}  // namespace
}  // namespace perdure::value_test
