// A database that is not whole says so, and is not taken for an empty or an old one.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "store/sqlite/migrate_offline.h"
#include "store/sqlite/sqlite_blobs.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class FileMarkOnDisk : public OnDisk {
protected:
    std::string log() const { return database() + "-wal"; }
    static std::uintmax_t size_of(const std::string& path) {
        return fs::exists(path) ? fs::file_size(path) : 0;
    }
    // What a person has who copies one file of a directory in use.
    void copy_without_log() {
        fs::copy_file(database(), folder + "/copy");
        store.reset();
        fs::remove(log());
        fs::rename(folder + "/copy", database());
    }
    Result<std::string> migrate(LostLog lost) {
        const auto directory = DataDirectory::open(folder);
        EXPECT_TRUE(directory.has_value());
        return migrate_offline(*directory, lost);
    }
    Error fsck_refusal() {
        const auto directory = DataDirectory::open(folder);
        const auto report = fsck_offline(*directory, Timing{});
        return report ? Error{Errc::invalid, "it was read"} : report.error();
    }
};

TEST_F(FileMarkOnDisk, everything_is_in_the_file_after_a_clean_stop) {
    open();
    ASSERT_TRUE(commit({submit(1), submit(2), submit(3)}).has_value());
    store.reset();
    EXPECT_EQ(size_of(log()), 0U);
    fs::remove(log());
    fs::remove(database() + "-shm");
    open();
    for (const auto id : {1, 2, 3}) EXPECT_TRUE(has_job(static_cast<std::uint64_t>(id)));
}

TEST_F(FileMarkOnDisk, output_is_in_its_file_after_a_clean_stop) {
    const auto path = folder + "/logs.db";
    const AttemptKey attempt{JobId{1}, Epoch{1}};
    {
        auto blobs = SqliteBlobs::open({.path = path});
        ASSERT_TRUE(blobs.has_value());
        ASSERT_TRUE(run((*blobs)->append({{attempt, 0, "hello"}})).has_value());
    }
    EXPECT_EQ(size_of(path + "-wal"), 0U);
    fs::remove(path + "-wal");
    auto blobs = SqliteBlobs::open({.path = path});
    ASSERT_TRUE(blobs.has_value());
    EXPECT_EQ(run((*blobs)->read(attempt, 0, 100))->bytes, "hello");
}

TEST_F(FileMarkOnDisk, one_in_use_is_refused_without_its_log) {
    open();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    copy_without_log();
    for (const auto& why : {refusal(), fsck_refusal(), migrate(LostLog::refuse).error()}) {
        EXPECT_EQ(why.code, Errc::corrupt);
        EXPECT_NE(why.what.find("perdure.db-wal"), std::string::npos) << why.what;
    }
}

TEST_F(FileMarkOnDisk, one_whose_log_another_program_has_moved_is_taken_if_a_person_says_so) {
    open();
    copy_without_log();
    EXPECT_TRUE(migrate(LostLog::accept).has_value());
    open();
}

TEST_F(FileMarkOnDisk, one_in_use_is_opened_with_its_log) {
    open();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    for (const auto* more : {"", "-wal"}) fs::copy_file(database() + more, folder + "/copy" + more);
    store.reset();
    for (const auto* more : {"", "-wal"}) fs::rename(folder + "/copy" + more, database() + more);
    // Looking at it does not take the log away.
    EXPECT_EQ(fsck_report().jobs, 1U);
    open();
    EXPECT_TRUE(has_job(1));
}

// Of 0 bytes, of one page as older versions left it, and cut off.
TEST_F(FileMarkOnDisk, one_without_a_schema_is_neither_new_nor_old) {
    open();
    store.reset();
    fs::resize_file(database(), 0);
    EXPECT_NE(refusal().what.find("nothing in it"), std::string::npos) << refusal().what;
    EXPECT_NE(fsck_refusal().what.find("nothing in it"), std::string::npos);
    EXPECT_NE(migrate(LostLog::accept).error().what.find("nothing in it"), std::string::npos);
    EXPECT_EQ(size_of(database()), 0U);
    fs::remove(database());
    fs::remove(log());
    sql("PRAGMA journal_mode = WAL");
    EXPECT_EQ(size_of(database()), 4096U);
    EXPECT_NE(refusal().what.find("nothing in it"), std::string::npos) << refusal().what;
}

TEST_F(FileMarkOnDisk, one_that_was_cut_off_is_refused) {
    open();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    store.reset();
    fs::resize_file(database(), 4096);
    EXPECT_EQ(refusal().code, Errc::corrupt);
}

TEST_F(FileMarkOnDisk, a_log_without_its_file_is_not_begun_anew) {
    open();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    fs::copy_file(log(), folder + "/log");
    store.reset();
    fs::remove(database());
    fs::rename(folder + "/log", log());
    EXPECT_NE(refusal().what.find("is missing"), std::string::npos) << refusal().what;
}

// It was being made when its server was killed.
TEST_F(FileMarkOnDisk, what_was_only_begun_to_be_made_is_made_anew) {
    std::FILE* half = std::fopen((database() + ".new").c_str(), "w");
    std::fputs("half of a database", half);
    std::fclose(half);
    open();
    EXPECT_FALSE(fs::exists(database() + ".new"));
}

TEST_F(FileMarkOnDisk, fsck_says_how_much_it_has_seen) {
    open();
    ASSERT_TRUE(commit({submit(1), submit(2)}).has_value());
    store.reset();
    const auto report = fsck_report();
    EXPECT_TRUE(report.findings.empty());
    EXPECT_EQ(report.jobs, 2U);
    EXPECT_EQ(report.attempts, 0U);
}

}  // namespace
}  // namespace perdure
