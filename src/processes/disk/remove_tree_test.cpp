#include "processes/disk/remove_tree.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "processes/disk/posix.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public testing::Test {
protected:
    RemoveTreeTest() {
        std::string pattern = fs::temp_directory_path() / "perdure-remove-XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        fs::create_directories(root_ / "ours");
        fs::create_directories(root_ / "elsewhere");
        std::ofstream(root_ / "elsewhere/precious") << "kept";
        parent_.reset(::open((root_ / "ours").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    ~RemoveTreeTest() override { fs::remove_all(root_); }

    fs::path root_;
    Fd parent_;
};

TEST_F(RemoveTreeTest, follows_nothing_that_a_job_has_made) {
    fs::create_directories(root_ / "ours/job/work/a");
    fs::create_directory_symlink(root_ / "elsewhere", root_ / "ours/job/work/link");
    fs::create_directory_symlink(root_ / "elsewhere", root_ / "ours/job/work/a/link");
    fs::create_hard_link(root_ / "elsewhere/precious", root_ / "ours/job/work/name");
    ::chmod((root_ / "elsewhere").c_str(), 0751);
    EXPECT_TRUE(remove_tree(parent_.get(), "job"));
    EXPECT_TRUE(fs::is_empty(root_ / "ours"));
    EXPECT_TRUE(fs::exists(root_ / "elsewhere/precious"));
    struct stat about {};
    ASSERT_EQ(::stat((root_ / "elsewhere").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0751U);
}

TEST_F(RemoveTreeTest, a_symlink_in_its_own_place_is_removed_alone) {
    fs::create_directory_symlink(root_ / "elsewhere", root_ / "ours/job");
    EXPECT_TRUE(remove_tree(parent_.get(), "job"));
    EXPECT_TRUE(fs::is_empty(root_ / "ours"));
    EXPECT_TRUE(fs::exists(root_ / "elsewhere/precious"));
}

// Deeper than a path, a stack or the descriptors of a process would reach.
TEST_F(RemoveTreeTest, depth_and_forbidden_folders_do_not_stop_it) {
    Fd at(::open((root_ / "ours").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::mkdirat(at.get(), "job", 0700), 0);
    at.reset(::openat(at.get(), "job", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int depth = 0; depth < 5'000; ++depth) {
        ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
        Fd next(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        ASSERT_EQ(::fchmod(at.get(), depth % 2 == 0 ? 0 : 0500), 0);
        at = std::move(next);
    }
    EXPECT_TRUE(remove_tree(parent_.get(), "job"));
    EXPECT_TRUE(fs::is_empty(root_ / "ours"));
}

TEST_F(RemoveTreeTest, what_is_not_there_is_removed_and_many_files_are) {
    EXPECT_TRUE(remove_tree(parent_.get(), "nothing"));
    fs::create_directories(root_ / "ours/job");
    for (int i = 0; i < 3'000; ++i) std::ofstream(root_ / "ours/job" / std::to_string(i)) << i;
    EXPECT_TRUE(remove_tree(parent_.get(), "job"));
    EXPECT_TRUE(fs::is_empty(root_ / "ours"));
}

TEST_F(RemoveTreeTest, files_of_another_user_go_as_well) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    fs::create_directories(root_ / "ours/job/work/deep");
    std::ofstream(root_ / "ours/job/work/deep/file") << "x";
    for (const auto* name : {"work/deep/file", "work/deep", "work"}) {
        const auto path = root_ / "ours/job" / name;
        ASSERT_EQ(::chmod(path.c_str(), 0), 0);
        ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    }
    EXPECT_TRUE(remove_tree(parent_.get(), "job"));
    EXPECT_TRUE(fs::is_empty(root_ / "ours"));
}

}  // namespace
}  // namespace perdure
