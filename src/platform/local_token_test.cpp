#include "platform/local_token.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "platform/entropy.h"
#include "platform/token_file.h"

namespace perdure {
namespace {

class LocalToken : public testing::Test {
protected:
    LocalToken() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-test-XXXXXX";
        directory = ::mkdtemp(pattern.data());
        tokens = std::move(*TokenFile::open(directory, random));
    }
    ~LocalToken() override { std::filesystem::remove_all(directory); }
    std::string secret() const {
        std::ifstream file(directory + "/token");
        std::string line;
        std::getline(file, line);
        return line;
    }

    Entropy random;
    std::string directory;
    std::unique_ptr<TokenFile> tokens;
};

TEST_F(LocalToken, is_there_for_its_owner_alone_and_new_at_each_start) {
    ASSERT_TRUE(keep_local_token(directory, *tokens, true, WallTime{1}));
    const auto first = secret();
    struct stat about {};
    ASSERT_EQ(::stat((directory + "/token").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0600U);
    ASSERT_NE(tokens->find(first), nullptr);
    EXPECT_EQ(tokens->find(first)->role, Role::admin);
    ASSERT_TRUE(keep_local_token(directory, *tokens, true, WallTime{2}));
    EXPECT_EQ(tokens->find(first), nullptr) << "of an earlier start";
    EXPECT_NE(tokens->find(secret()), nullptr);
}

TEST_F(LocalToken, is_nowhere_where_the_kernel_can_tell) {
    ASSERT_TRUE(keep_local_token(directory, *tokens, true, WallTime{1}));
    const auto first = secret();
    ASSERT_TRUE(keep_local_token(directory, *tokens, false, WallTime{2}));
    EXPECT_EQ(tokens->find(first), nullptr);
    EXPECT_FALSE(std::filesystem::exists(directory + "/token"));
    EXPECT_TRUE(tokens->list().empty());
}

}  // namespace
}  // namespace perdure
