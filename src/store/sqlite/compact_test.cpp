// Compacting keeps everything that is stored, gives back the rest, and may die at any moment.
#include "store/sqlite/compact.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/file_mark.h"
#include "store/sqlite/sqlite_blobs.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using store::sqlite::Connection;

class CompactOnDisk : public OnDisk {
protected:
    void fill() {
        open();
        for (std::uint64_t id = 1; id <= 20; ++id) ASSERT_TRUE(commit({submit(id)}).has_value());
        auto blobs = SqliteBlobs::open({.path = folder + "/logs.db"});
        ASSERT_TRUE(blobs.has_value());
        const std::string piece(60'000, 'x');
        for (std::uint64_t job = 1; job <= 100; ++job)
            ASSERT_TRUE(run((*blobs)->append({{AttemptKey{JobId{job}, Epoch{1}}, 0, piece}})));
        blobs->reset();
        store.reset();
        Connection logs(folder + "/logs.db", Connection::Access::write);
        logs.run("DELETE FROM piece WHERE job > 10");
    }
    Result<std::vector<CompactedFile>> compact() {
        auto directory = DataDirectory::open_existing(folder);
        EXPECT_TRUE(directory.has_value());
        return compact_offline(*directory, [this](auto, auto) { ++looks; });
    }
    std::int64_t number(const std::string& file, const char* sql) const {
        return Connection(folder + "/" + file, Connection::Access::file_alone).number(sql);
    }

    int looks = 0;
};

TEST_F(CompactOnDisk, it_gives_back_what_is_free_and_keeps_the_rest) {
    fill();
    const auto files = compact();
    ASSERT_TRUE(files.has_value()) << files.error().what;
    ASSERT_EQ(files->size(), 2U);
    EXPECT_EQ((*files)[0].name, "logs.db");
    EXPECT_GT((*files)[0].before, 5'000'000U);
    EXPECT_LT((*files)[0].after, 1'000'000U);
    EXPECT_EQ((*files)[0].after, fs::file_size(folder + "/logs.db"));
    EXPECT_GT(looks, 0);
    EXPECT_EQ(number("logs.db", "SELECT count(*) FROM piece"), 10);
    EXPECT_EQ(number("logs.db", "PRAGMA freelist_count"), 0);
    EXPECT_FALSE(fs::exists(folder + "/logs.db.compact"));
    EXPECT_EQ(fs::status(folder + "/logs.db").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    open();
    for (std::uint64_t id = 1; id <= 20; ++id) EXPECT_TRUE(has_job(id));
    ASSERT_TRUE(commit({submit(21)}).has_value());
    store.reset();
    const auto again = compact();
    ASSERT_TRUE(again.has_value()) << again.error().what;
    open();
    EXPECT_TRUE(has_job(21));
}

// What was killed leaves a copy that is not whole, and the original beside it.
TEST_F(CompactOnDisk, what_a_killed_one_has_left_is_of_no_account) {
    fill();
    std::ofstream(folder + "/logs.db.compact") << "half a copy";
    std::ofstream(folder + "/perdure.db.compact-journal") << "of it";
    ASSERT_TRUE(compact().has_value());
    EXPECT_EQ(number("logs.db", "SELECT count(*) FROM piece"), 10);
    EXPECT_FALSE(fs::exists(folder + "/logs.db.compact"));
    EXPECT_FALSE(fs::exists(folder + "/perdure.db.compact-journal"));
}

TEST_F(CompactOnDisk, a_database_without_its_log_is_refused_and_stays) {
    fill();
    {
        Connection marked(folder + "/perdure.db", Connection::Access::write);
        store::sqlite::put_mark(marked, store::sqlite::FileMark::in_use);
    }
    fs::remove(folder + "/perdure.db-wal");
    EXPECT_TRUE(compact().is(Errc::corrupt));
}

}  // namespace
}  // namespace perdure
