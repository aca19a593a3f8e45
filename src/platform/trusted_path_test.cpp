#include "platform/trusted_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/assert.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr uid_t other_uid = 61'001;

class TrustedPath : public testing::Test {
protected:
    TrustedPath() {
        auto path = (fs::temp_directory_path() / "perdure-trust-XXXXXX").string();
        PERDURE_ASSERT(::mkdtemp(path.data()) != nullptr);
        root = path;
        data = root + "/data";
        fs::create_directory(data);
        ::chmod(data.c_str(), 0700);
    }
    ~TrustedPath() override { fs::remove_all(root); }

    Error refusal(const std::string& path) {
        const auto trusted = trust_directory(path, "data directory");
        return trusted ? error(Errc::corrupt, "it was trusted") : trusted.error();
    }
    mode_t mode_of(const std::string& path) {
        struct stat about {};
        ::stat(path.c_str(), &about);
        return about.st_mode & 07777U;
    }
    void write(const std::string& path, mode_t mode) {
        std::ofstream(path) << "x";
        ::chmod(path.c_str(), mode);
    }
    bool give_away(const std::string& path) {
        return ::lchown(path.c_str(), other_uid, other_uid) == 0;
    }

    std::string root;
    std::string data;
};

TEST_F(TrustedPath, a_private_directory_is_taken_as_it_is) {
    write(data + "/perdure.db", 0600);
    const auto trusted = trust_directory(data, "data directory");
    ASSERT_TRUE(trusted.has_value()) << trusted.error().what;
    EXPECT_TRUE(trusted->notes.empty());
    EXPECT_EQ(trusted->path, data);
}

TEST_F(TrustedPath, what_others_could_read_is_tightened_and_named) {
    ::chmod(data.c_str(), 0755);
    write(data + "/perdure.db", 0644);
    const auto trusted = trust_directory(data, "data directory");
    ASSERT_TRUE(trusted.has_value()) << trusted.error().what;
    ASSERT_EQ(trusted->notes.size(), 2U);
    EXPECT_NE(trusted->notes[0].find(data + ": its mode was 0755"), std::string::npos);
    EXPECT_NE(trusted->notes[1].find("perdure.db: its mode was 0644"), std::string::npos);
    EXPECT_EQ(mode_of(data), 0700U);
    EXPECT_EQ(mode_of(data + "/perdure.db"), 0600U);
}

TEST_F(TrustedPath, what_others_can_write_is_refused) {
    ::chmod(data.c_str(), 0777);
    EXPECT_EQ(refusal(data).code, Errc::forbidden);
    EXPECT_NE(refusal(data).what.find("others can write " + data + " (mode 0777)"),
              std::string::npos);
    ::chmod(data.c_str(), 0700);
    write(data + "/lock", 0666);
    EXPECT_EQ(refusal(data).code, Errc::forbidden);
}

TEST_F(TrustedPath, a_directory_below_one_that_others_can_write_is_refused) {
    ::chmod(root.c_str(), 0777);
    EXPECT_EQ(refusal(data).code, Errc::forbidden);
    EXPECT_TRUE(trust_way_to(root + "/to/be/made", "data directory").is(Errc::forbidden));
}

TEST_F(TrustedPath, a_link_in_the_directory_is_refused_and_its_target_left_alone) {
    write(root + "/precious", 0644);
    fs::create_symlink(root + "/precious", data + "/lock");
    EXPECT_EQ(refusal(data).code, Errc::forbidden);
    EXPECT_NE(refusal(data).what.find("lock is a symbolic link"), std::string::npos);
    EXPECT_EQ(mode_of(root + "/precious"), 0644U);
}

TEST_F(TrustedPath, a_link_of_ours_on_the_way_is_followed) {
    fs::create_directory_symlink("data", root + "/other");
    const auto trusted = trust_directory(root + "/other/../other", "data directory");
    ASSERT_TRUE(trusted.has_value()) << trusted.error().what;
    EXPECT_EQ(trusted->path, data);
    fs::create_directory_symlink("round", root + "/round");
    EXPECT_EQ(refusal(root + "/round").code, Errc::unavailable);
}

TEST_F(TrustedPath, what_is_missing_is_added_to_what_is_there) {
    const auto whole = trust_way_to(data + "/not/yet", "data directory");
    ASSERT_TRUE(whole.has_value()) << whole.error().what;
    EXPECT_EQ(*whole, data + "/not/yet");
}

TEST_F(TrustedPath, nothing_of_another_account_is_used) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    write(data + "/perdure.db", 0600);
    ASSERT_TRUE(give_away(data + "/perdure.db"));
    EXPECT_EQ(refusal(data).code, Errc::forbidden);
    fs::remove(data + "/perdure.db");
    ASSERT_TRUE(give_away(data));
    EXPECT_EQ(refusal(data).code, Errc::forbidden);
    fs::create_directory_symlink("/", root + "/link");
    ASSERT_TRUE(give_away(root + "/link"));
    EXPECT_TRUE(trust_way_to(root + "/link", "data directory").is(Errc::forbidden));
}

TEST_F(TrustedPath, settings_are_read_from_files_of_ours_alone) {
    const auto path = data + "/perdure.toml";
    EXPECT_TRUE(read_trusted_file(path).is(Errc::not_found));
    write(path, 0644);
    EXPECT_EQ(*read_trusted_file(path), "x");
    ::chmod(path.c_str(), 0664);
    EXPECT_TRUE(read_trusted_file(path).is(Errc::forbidden));
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_TRUE(read_trusted_file(path).is(Errc::forbidden)) << "and does not wait";
    if (::geteuid() != 0) return;
    fs::remove(path);
    write(path, 0644);
    ASSERT_TRUE(give_away(path));
    EXPECT_TRUE(read_trusted_file(path).is(Errc::forbidden));
}

}  // namespace
}  // namespace perdure
