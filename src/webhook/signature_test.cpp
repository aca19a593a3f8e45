#include "webhook/signature.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace perdure {
namespace {

constexpr std::string_view known = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

// The example that the standard's own libraries are tested with.
TEST(WebhookSignature, is_the_one_of_the_standard) {
    const auto secrets = parse_secrets(known);
    ASSERT_TRUE(secrets);
    const Signed what{.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
                      .timestamp = 1'614'265'330,
                      .body = R"({"test": 2432232314})"};
    EXPECT_EQ(signature_of(*secrets, what), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(WebhookSignature, depends_on_everything_it_protects) {
    const auto secrets = parse_secrets(known);
    const auto of = [&](std::string_view id, std::int64_t at, std::string_view body) {
        return signature_of(*secrets, {.id = id, .timestamp = at, .body = body});
    };
    const auto first = of("a", 1, "{}");
    EXPECT_NE(of("b", 1, "{}"), first);
    EXPECT_NE(of("a", 2, "{}"), first);
    EXPECT_NE(of("a", 1, "{ }"), first);
}

TEST(WebhookSecrets, are_one_for_each_line_so_that_one_can_be_replaced) {
    const auto secrets = parse_secrets(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\r\n\n  MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx \n");
    ASSERT_TRUE(secrets);
    ASSERT_EQ(secrets->size(), 2U);
    const auto both = signature_of(*secrets, {.id = "a", .timestamp = 1, .body = "{}"});
    const auto first = signature_of({secrets->front()}, {.id = "a", .timestamp = 1, .body = "{}"});
    EXPECT_TRUE(both.starts_with(first + " v1,")) << both;
}

TEST(WebhookSecrets, that_are_too_short_or_no_base_64_are_refused) {
    for (const std::string_view text :
         {"", "\n", "whsec_", "password", "MfKQ9r8GKYo=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"})
        EXPECT_TRUE(parse_secrets(text).is(Errc::invalid)) << text;
}

class SecretFiles : public testing::Test {
protected:
    SecretFiles() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-secrets-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
    }
    ~SecretFiles() override { std::filesystem::remove_all(directory_); }
    void write(const std::string& name, std::string_view text, mode_t mode) {
        std::ofstream(directory_ + "/" + name) << text;
        ::chmod((directory_ + "/" + name).c_str(), mode);
    }
    std::string directory_;
};

TEST_F(SecretFiles, are_read_by_name) {
    write("billing", known, 0600);
    EXPECT_EQ(read_secrets(directory_, "billing")->size(), 1U);
    EXPECT_TRUE(read_secrets(directory_, "other").is(Errc::unavailable));
}

TEST_F(SecretFiles, that_everybody_can_read_are_refused) {
    write("billing", known, 0604);
    EXPECT_TRUE(read_secrets(directory_, "billing").is(Errc::invalid));
}

TEST_F(SecretFiles, never_show_their_content_in_an_error) {
    write("billing", "this-is-the-secret", 0600);
    const auto read = read_secrets(directory_, "billing");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().what.find("this-is"), std::string::npos) << read.error().what;
}

}  // namespace
}  // namespace perdure
