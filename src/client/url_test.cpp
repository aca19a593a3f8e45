#include "client/url.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(Url, has_host_and_port) {
    const auto url = read_url("http://example.org:80/");
    ASSERT_TRUE(url);
    EXPECT_EQ(url->host, "example.org");
    EXPECT_EQ(url->port, 80);
    EXPECT_EQ(read_url("127.0.0.1")->text(), "127.0.0.1:7373");
    EXPECT_EQ(read_url("http://[::1]:9")->host, "::1");
    EXPECT_EQ(read_url("http://[::1]:9")->text(), "[::1]:9");
}

TEST(Url, is_refused_if_it_is_anything_else) {
    for (const auto* text :
         {"", "http://", "https://x", "ftp://x", "http://x/y", "http://x:0", "http://x:65536",
          "http://x:y", "http://x:", "http://u@x", "http://:7", "http://[::1", "http://[::1]9"})
        EXPECT_TRUE(read_url(text).is(Errc::invalid)) << text;
}

}  // namespace
}  // namespace perdure
