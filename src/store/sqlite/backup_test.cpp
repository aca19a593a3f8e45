// Backups are of one moment, harm nobody, and run nothing twice when they are restored.
#include "store/sqlite/backup.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "store/sqlite/db/database_origin.h"
#include "store/sqlite/db/file_mark.h"
#include "store/sqlite/restore.h"
#include "store/sqlite/testing/failing_disk.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using store::sqlite::Connection;

class BackupOnDisk : public OnDisk {
protected:
    ~BackupOnDisk() override {
        service.reset();
        store.reset();
        blobs.reset();
    }
    void open_all() {
        open();
        auto opened = SqliteBlobs::open({.path = folder + "/logs.db"});
        ASSERT_TRUE(opened.has_value());
        blobs = std::move(*opened);
        service = std::make_unique<SqliteBackupService>(folder, *store, *blobs,
                                                        [] { return WallTime{1'000'000}; });
    }
    std::string path() const { return folder + "/backup"; }
    BackupStatus backed_up() {
        EXPECT_TRUE(service->start(path()).has_value());
        while (service->status().is_running()) ::poll(nullptr, 0, 1);
        return service->status();
    }
    static std::int64_t number(const std::string& file, const char* sql) {
        return Connection(file, Connection::Access::file_alone).number(sql);
    }
    static JobSpec once() {
        JobSpec spec;
        spec.kind = "work";
        spec.effects = Effects::once;
        return spec;
    }
    static Submit submit_once(std::uint64_t id) {
        auto spec = once();
        const auto hash = body_hash(spec);
        return {JobId{id}, std::make_shared<const JobSpec>(std::move(spec)), hash};
    }

    std::unique_ptr<SqliteBlobs> blobs;
    std::unique_ptr<SqliteBackupService> service;
};

TEST_F(BackupOnDisk, has_all_that_was_accepted_and_is_its_owners_alone) {
    open_all();
    ASSERT_TRUE(commit({submit(1), submit(2)}).has_value());
    ASSERT_TRUE(run(blobs->append({{AttemptKey{JobId{1}, Epoch{1}}, 0, "hello"}})).has_value());
    const auto status = backed_up();
    ASSERT_TRUE(status.outcome->has_value()) << status.outcome->error().what;
    EXPECT_EQ((*status.outcome)->jobs, 2U);
    EXPECT_EQ(number(path() + "/perdure.db", "SELECT count(*) FROM job WHERE id IN (1, 2)"), 2);
    EXPECT_EQ(number(path() + "/logs.db", "SELECT count(*) FROM piece"), 1);
    EXPECT_FALSE(fs::exists(path() + ".partial"));
    EXPECT_EQ(fs::status(path()).permissions(), fs::perms::owner_all);
    for (const auto& file : fs::directory_iterator(path()))
        EXPECT_EQ(file.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(std::distance(fs::directory_iterator(path()), {}), 2);
}

// What is committed between the beginning of the snapshot and the last page is not in it, and is
// not kept waiting.
TEST_F(BackupOnDisk, is_of_one_moment_while_the_store_goes_on) {
    open_all();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    bool has_committed = false;
    BackupOrder order{.data = folder, .path = path()};
    order.progress = [&](std::uint64_t, std::uint64_t) {
        if (!std::exchange(has_committed, true)) {
            ASSERT_TRUE(commit({submit(2)}).has_value());
            ASSERT_TRUE(
                run(blobs->append({{AttemptKey{JobId{2}, Epoch{1}}, 0, "later"}})).has_value());
        }
    };
    ASSERT_TRUE(make_backup(order).has_value());
    EXPECT_TRUE(has_committed);
    EXPECT_TRUE(has_job(2));
    EXPECT_EQ(number(path() + "/perdure.db", "SELECT max(id) * 10 + count(*) FROM job"), 11);
    EXPECT_EQ(number(path() + "/logs.db", "SELECT count(*) FROM piece"), 0);
}

TEST_F(BackupOnDisk, both_databases_are_at_rest_when_it_begins) {
    open_all();
    const auto status = backed_up();
    ASSERT_TRUE(status.outcome->has_value());
    // And afterwards they are not: the writers go on.
    EXPECT_TRUE(commit({submit(1)}).has_value());
    EXPECT_TRUE(run(blobs->append({{AttemptKey{JobId{1}, Epoch{1}}, 0, "a"}})).has_value());
}

TEST_F(BackupOnDisk, a_full_disk_gives_a_sentence_and_leaves_nothing) {
    store::sqlite::FailingDisk disk;
    open_all();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    disk.is_full = true;
    const auto status = backed_up();
    disk.is_full = false;
    ASSERT_TRUE(status.outcome->is(Errc::unavailable));
    EXPECT_TRUE(status.outcome->error().what.starts_with("disk full: "))
        << status.outcome->error().what;
    EXPECT_FALSE(fs::exists(path()));
    EXPECT_FALSE(fs::exists(path() + ".partial"));
    EXPECT_TRUE(commit({submit(2)}).has_value());
    service.reset();
    store.reset();
    blobs.reset();
}

TEST_F(BackupOnDisk, nothing_that_is_there_is_written_over) {
    open_all();
    EXPECT_TRUE(service->start("relative").is(Errc::invalid));
    fs::create_directory(path());
    EXPECT_TRUE(service->start(path()).is(Errc::conflict));
    fs::remove(path());
    fs::create_symlink("/nowhere", path());
    EXPECT_TRUE(service->start(path()).is(Errc::conflict));
}

TEST_F(BackupOnDisk, no_server_opens_a_backup_itself) {
    open_all();
    ASSERT_TRUE(backed_up().outcome->has_value());
    const auto opened = SqliteStore::open({.path = path() + "/perdure.db"}, Timing{});
    ASSERT_TRUE(opened.is(Errc::conflict));
    EXPECT_NE(opened.error().what.find("perdure restore"), std::string::npos);
}

TEST_F(BackupOnDisk, what_is_restored_is_a_copy_unless_somebody_says_otherwise) {
    open_all();
    ASSERT_TRUE(commit({submit(1)}).has_value());
    ASSERT_TRUE(backed_up().outcome->has_value());
    const auto restored = restore({.backup = path(), .data = folder + "/a"}, Timing{});
    ASSERT_TRUE(restored.has_value()) << restored.error().what;
    EXPECT_EQ(restored->jobs, 1U);
    EXPECT_EQ(restored->not_ended, 1U);
    const auto copy = SqliteStore::open({.path = folder + "/a/perdure.db"}, Timing{});
    ASSERT_TRUE(copy.has_value()) << copy.error().what;
    EXPECT_TRUE((*copy)->copy_of().has_value());
    const auto other =
        restore({.backup = path(), .data = folder + "/b", .as = RestoreAs::take_over}, Timing{});
    ASSERT_TRUE(other.has_value()) << other.error().what;
    const auto heir = SqliteStore::open({.path = folder + "/b/perdure.db"}, Timing{});
    ASSERT_TRUE(heir.has_value()) << heir.error().what;
    EXPECT_FALSE((*heir)->copy_of().has_value());
}

// P4
TEST_F(BackupOnDisk, who_takes_over_holds_what_must_not_run_twice) {
    open_all();
    ASSERT_TRUE(commit({submit(1), submit_once(2), submit_once(3), Cancel{JobId{3}}}).has_value());
    ASSERT_TRUE(backed_up().outcome->has_value());
    const auto restored =
        restore({.backup = path(), .data = folder + "/a", .as = RestoreAs::take_over}, Timing{});
    ASSERT_TRUE(restored.has_value()) << restored.error().what;
    EXPECT_EQ(restored->held, 1U);
    const auto database = folder + "/a/perdure.db";
    EXPECT_EQ(number(database, "SELECT max(job) * 10 + count(*) FROM blocked"), 21);
    EXPECT_EQ(number(database, "SELECT max(job) * 10 + count(*) FROM ready"), 11);
}

TEST_F(BackupOnDisk, is_restored_only_into_an_empty_directory) {
    open_all();
    ASSERT_TRUE(backed_up().outcome->has_value());
    EXPECT_TRUE(restore({.backup = path(), .data = folder}, Timing{}).is(Errc::conflict));
    EXPECT_TRUE(
        restore({.backup = folder + "/no", .data = folder + "/a"}, Timing{}).is(Errc::not_found));
    EXPECT_FALSE(fs::exists(folder + "/a"));
}

TEST_F(BackupOnDisk, one_that_is_damaged_is_not_restored) {
    open_all();
    ASSERT_TRUE(backed_up().outcome->has_value());
    fs::resize_file(path() + "/perdure.db", fs::file_size(path() + "/perdure.db") - 4096);
    const auto restored = restore({.backup = path(), .data = folder + "/a"}, Timing{});
    EXPECT_TRUE(restored.is(Errc::corrupt));
    EXPECT_FALSE(fs::exists(folder + "/a"));
}

}  // namespace
}  // namespace perdure
