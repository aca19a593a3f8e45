#include "core/job/webhook.h"

#include <gtest/gtest.h>

namespace perdure::webhook_test {
namespace {

IpAddress address(std::string_view text) {
    const auto parsed = parse_address(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(IpAddress{});
}

DestinationDecision decide(std::string_view text, const std::vector<Network>& allowed = {},
                           std::uint16_t port = 443) {
    return decide_destination({.address = address(text), .port = port, .allowed = &allowed});
}

TEST(DecideDestination, speaks_to_public_addresses) {
    for (const std::string_view text :
         {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
          "126.255.255.255", "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0",
          "192.167.255.255", "192.169.0.0", "223.255.255.255", "2606:4700::1111",
          "2a00:1450:4001::1", "2003::1"})
        EXPECT_TRUE(decide(text).allowed) << text;
}

TEST(DecideDestination, refuses_everything_that_is_not_public) {
    for (const std::string_view text : {"0.0.0.0",
                                        "0.1.2.3",
                                        "10.0.0.0",
                                        "10.255.255.255",
                                        "100.64.0.0",
                                        "100.127.255.255",
                                        "127.0.0.1",
                                        "127.255.255.255",
                                        "169.254.169.254",
                                        "172.16.0.0",
                                        "172.31.255.255",
                                        "192.0.0.8",
                                        "192.0.2.1",
                                        "192.88.99.1",
                                        "192.168.0.0",
                                        "192.168.255.255",
                                        "198.18.0.1",
                                        "198.19.255.255",
                                        "198.51.100.1",
                                        "203.0.113.1",
                                        "224.0.0.1",
                                        "239.255.255.255",
                                        "240.0.0.1",
                                        "255.255.255.255",
                                        "::",
                                        "::1",
                                        "::ffff:127.0.0.1",
                                        "::ffff:1.1.1.1",
                                        "::127.0.0.1",
                                        "64:ff9b::a00:1",
                                        "64:ff9b:1::1",
                                        "100::1",
                                        "2001::1",
                                        "2001:db8::1",
                                        "2001:2::1",
                                        "2002:7f00:1::",
                                        "3fff::1",
                                        "fc00::1",
                                        "fd12::1",
                                        "fe80::1",
                                        "febf::1",
                                        "fec0::1",
                                        "ff02::1",
                                        "4000::1",
                                        "1fff::1"})
        EXPECT_FALSE(decide(text).allowed) << text;
}

TEST(DecideDestination, says_what_a_refused_address_is) {
    EXPECT_EQ(decide("169.254.169.254").what, "link-local");
    EXPECT_EQ(decide("::1").what, "loopback");
    EXPECT_EQ(decide("::ffff:10.0.0.1").what, "an IPv4 address in disguise");
    EXPECT_EQ(decide("100.64.0.1").what, "shared by a carrier (CGNAT)");
}

TEST(DecideDestination, speaks_to_what_the_worker_allows_and_to_nothing_beside_it) {
    const std::vector<Network> allowed = {*parse_network("10.1.0.0/16"), *parse_network("::1")};
    EXPECT_TRUE(decide("10.1.255.255", allowed).allowed);
    EXPECT_TRUE(decide("::1", allowed).allowed);
    for (const std::string_view text :
         {"10.0.255.255", "10.2.0.0", "127.0.0.1", "::2", "::ffff:10.1.0.1", "a01::"})
        EXPECT_FALSE(decide(text, allowed).allowed) << text;
}

TEST(DecideDestination, speaks_to_ports_of_the_web_only) {
    for (const std::uint16_t port :
         std::initializer_list<std::uint16_t>{80, 443, 1024, 8080, 65535})
        EXPECT_TRUE(decide("1.1.1.1", {}, port).allowed) << port;
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{0, 22, 25, 81, 444, 1023})
        EXPECT_FALSE(decide("1.1.1.1", {}, port).allowed) << port;
}

TEST(DecideDelivery, knows_every_status) {
    for (unsigned status = 0; status < 1'000; ++status) {
        const auto decision = decide_delivery({.status = status});
        EXPECT_EQ(decision.delivered, status / 100 == 2) << status;
        if (decision.delivered) continue;
        const auto expected = status == 410 ? Cause::verdict_permanent : Cause::disconnected;
        EXPECT_EQ(decision.cause, expected) << status;
    }
    EXPECT_FALSE(decide_delivery({}).delivered);
    EXPECT_EQ(decide_delivery({}).cause, Cause::disconnected);
}

TEST(IpAddressText, is_read_strictly) {
    EXPECT_EQ(address("1:2:3:4:5:6:7:8"), address("1:2:3:4:5:6:0.7.0.8"));
    EXPECT_EQ(address("::ffff:1.2.3.4"), address("0:0:0:0:0:ffff:102:304"));
    for (const std::string_view text : {"",
                                        "1",
                                        "1.2.3",
                                        "1.2.3.4.5",
                                        "1.2.3.256",
                                        "01.2.3.4",
                                        "1.2.3.-4",
                                        " 1.2.3.4",
                                        "1.2.3.4 ",
                                        "0x7f.0.0.1",
                                        ":",
                                        ":::",
                                        "1::2::3",
                                        "1:2:3:4:5:6:7",
                                        "1:2:3:4:5:6:7:8:9",
                                        "12345::",
                                        "1:2:3:4:5:6:7:8::",
                                        ":1",
                                        "1:",
                                        "::1.2.3",
                                        "::g",
                                        "fe80::1%eth0"})
        EXPECT_FALSE(parse_address(text)) << text;
}

TEST(NetworkText, is_read_strictly) {
    EXPECT_EQ(parse_network("10.0.0.0/8")->bits, 8U);
    EXPECT_EQ(parse_network("10.0.0.1")->bits, 32U);
    EXPECT_EQ(parse_network("::/0")->bits, 0U);
    for (const std::string_view text :
         {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "/8", "10.0.0.0/8/8", "host/8"})
        EXPECT_FALSE(parse_network(text)) << text;
}

}  // namespace
}  // namespace perdure::webhook_test
