#include "platform/token_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/assert.h"
#include "platform/entropy.h"

namespace perdure {
namespace {

class AccessFiles : public testing::Test {
protected:
    AccessFiles() {
        auto path = (std::filesystem::temp_directory_path() / "perdure-tokens-XXXXXX").string();
        PERDURE_ASSERT(::mkdtemp(path.data()) != nullptr);
        folder = path;
    }
    ~AccessFiles() override { std::filesystem::remove_all(folder); }

    std::unique_ptr<TokenFile> open() {
        auto file = TokenFile::open(folder, random);
        PERDURE_ASSERT(file.has_value());
        return std::move(*file);
    }
    std::string stored(const std::string& name) {
        std::ifstream file(folder + "/" + name);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }

    std::string folder;
    Entropy random;
};

TEST_F(AccessFiles, a_token_is_known_after_a_restart_and_its_secret_is_not_stored) {
    const auto secret = open()->create({.name = "shop",
                                        .role = Role::submitter,
                                        .tenant = "shop",
                                        .created_by = "uid 1000",
                                        .created_at = WallTime{7},
                                        .expires_at = WallTime{9}});
    ASSERT_TRUE(secret.has_value());
    EXPECT_GE(secret->size(), 64U);
    EXPECT_EQ(stored("tokens").find(*secret), std::string::npos);
    EXPECT_EQ(stored("tokens").find(secret->substr(8, 16)), std::string::npos);
    const auto again = open();
    const auto* token = again->find(*secret);
    ASSERT_NE(token, nullptr);
    EXPECT_EQ(token->name, "shop");
    EXPECT_EQ(token->role, Role::submitter);
    EXPECT_EQ(token->tenant, "shop");
    EXPECT_EQ(token->created_by, "uid 1000");
    EXPECT_EQ(token->expires_at, WallTime{9});
    EXPECT_EQ(again->find(*secret + "0"), nullptr);
    EXPECT_EQ(again->find(""), nullptr);
}

TEST_F(AccessFiles, a_revoked_token_is_gone_for_good) {
    const auto tokens = open();
    const auto secret = tokens->create({.name = "a"});
    const auto other = tokens->create({.name = "b"});
    EXPECT_TRUE(tokens->create({.name = "a"}).is(Errc::conflict));
    ASSERT_TRUE(tokens->revoke("a").has_value());
    EXPECT_EQ(tokens->find(*secret), nullptr);
    EXPECT_EQ(open()->find(*secret), nullptr);
    EXPECT_NE(open()->find(*other), nullptr);
    EXPECT_TRUE(tokens->revoke("a").is(Errc::not_found));
}

TEST_F(AccessFiles, a_damaged_line_is_a_token_that_nobody_has) {
    const auto secret = open()->create({.name = "a"});
    std::ofstream(folder + "/tokens", std::ios::app) << "damaged line\n";
    EXPECT_NE(open()->find(*secret), nullptr);
    EXPECT_EQ(open()->list().size(), 1U);
    std::ofstream(folder + "/tokens") << "something else\n";
    EXPECT_TRUE(TokenFile::open(folder, random).is(Errc::corrupt));
}

}  // namespace
}  // namespace perdure
