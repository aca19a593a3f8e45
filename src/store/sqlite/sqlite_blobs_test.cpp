#include "store/sqlite/sqlite_blobs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>

namespace perdure {
namespace {

class SqliteBlobsTest : public testing::TestWithParam<bool> {
protected:
    SqliteBlobsTest() {
        auto opened = SqliteBlobs::open({.threads = GetParam()});
        PERDURE_ASSERT(opened.has_value());
        blobs_ = std::move(*opened);
    }

    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(loop_, keep(std::move(task), result), [](std::exception_ptr failure) {
            PERDURE_ASSERT(failure == nullptr);
        });
        loop_.restart();
        loop_.run();
        return std::move(*result);
    }
    Result<std::vector<std::uint64_t>> append(AttemptKey attempt, std::uint64_t offset,
                                              std::string bytes) {
        std::vector<LogChunk> chunks{{attempt, offset, std::move(bytes)}};
        return run(blobs_->append(std::move(chunks)));
    }
    std::string text(AttemptKey attempt, std::uint64_t offset = 0, std::size_t max = 1'000'000) {
        const auto piece = run(blobs_->read(attempt, offset, max));
        EXPECT_TRUE(piece.has_value());
        return piece->bytes;
    }
    std::uint64_t end(AttemptKey attempt) { return run(blobs_->read(attempt, 0, 0))->end; }

    const AttemptKey one{JobId{5}, Epoch{1}};
    const AttemptKey two{JobId{5}, Epoch{2}};
    const AttemptKey other{JobId{6}, Epoch{1}};

    boost::asio::io_context loop_;  // outlives what posts to it
    std::unique_ptr<SqliteBlobs> blobs_;

private:
    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& result) {
        result = co_await std::move(task);
    }
};

TEST_P(SqliteBlobsTest, gives_back_what_was_printed_attempt_by_attempt) {
    ASSERT_TRUE(append(one, 0, "hello ").has_value());
    ASSERT_TRUE(append(two, 0, "again").has_value());
    ASSERT_TRUE(append(one, 6, "world").has_value());
    EXPECT_EQ(text(one), "hello world");
    EXPECT_EQ(text(two), "again");
    EXPECT_EQ(text(other), "");
    EXPECT_EQ(end(one), 11U);
}

TEST_P(SqliteBlobsTest, any_range_can_be_read) {
    ASSERT_TRUE(append(one, 0, "abc").has_value());
    ASSERT_TRUE(append(one, 3, "def").has_value());
    ASSERT_TRUE(append(one, 6, "ghi").has_value());
    const std::string all = "abcdefghi";
    for (std::size_t offset = 0; offset <= 10; ++offset)
        for (std::size_t max = 0; max <= 10; ++max)
            EXPECT_EQ(text(one, offset, max), offset < 9 ? all.substr(offset, max) : "");
}

TEST_P(SqliteBlobsTest, what_is_there_already_is_left_as_it_is) {
    ASSERT_TRUE(append(one, 0, "abcd").has_value());
    ASSERT_TRUE(append(one, 2, "XXef").has_value());
    ASSERT_TRUE(append(one, 0, "YY").has_value());
    EXPECT_EQ(text(one), "abcdef");
}

TEST_P(SqliteBlobsTest, a_gap_is_a_conflict_and_writes_nothing_of_the_batch) {
    std::vector<LogChunk> chunks{{one, 0, "abc"}, {other, 1, "x"}};
    EXPECT_TRUE(run(blobs_->append(chunks)).is(Errc::conflict));
    EXPECT_EQ(end(one), 0U);
    chunks[1].offset = 0;
    EXPECT_TRUE(run(blobs_->append(chunks)).has_value());
    EXPECT_EQ(text(other), "x");
}

TEST_P(SqliteBlobsTest, large_and_binary_output_comes_back_byte_by_byte) {
    std::string all;
    for (int i = 0; i < 40; ++i) {
        std::string chunk(log_chunk_max, static_cast<char>(i));
        ASSERT_TRUE(append(one, all.size(), chunk).has_value());
        all += chunk;
    }
    EXPECT_TRUE(text(one, 0, 10 * log_chunk_max * 40) == all);
    EXPECT_TRUE(text(one, log_chunk_max - 1, 2) == all.substr(log_chunk_max - 1, 2));
}

TEST_P(SqliteBlobsTest, takes_back_what_was_appended_and_nothing_before_it) {
    ASSERT_TRUE(append(one, 0, "abc").has_value());
    ASSERT_TRUE(append(two, 0, "other").has_value());
    const auto before = append(one, 1, "bcdef");
    ASSERT_TRUE(before.has_value());
    EXPECT_EQ(*before, std::vector<std::uint64_t>{3});
    ASSERT_TRUE(run(blobs_->cut({{one, before->front()}})).has_value());
    EXPECT_EQ(run(blobs_->read(one, 0, 100))->bytes, "abc");
    EXPECT_EQ(run(blobs_->read(two, 0, 100))->bytes, "other");
    EXPECT_EQ(*append(one, 3, "DEF"), std::vector<std::uint64_t>{3});
}

TEST_P(SqliteBlobsTest, removes_all_output_of_a_job_and_no_other) {
    ASSERT_TRUE(append(one, 0, "a").has_value());
    ASSERT_TRUE(append(two, 0, "b").has_value());
    ASSERT_TRUE(append(other, 0, "c").has_value());
    ASSERT_TRUE(run(blobs_->remove({one.job, JobId{99}})).has_value());
    EXPECT_EQ(end(one) + end(two), 0U);
    EXPECT_EQ(text(other), "c");
}

// C8: and what is owed is removed by the next calls, whoever they are about.
TEST_P(SqliteBlobsTest, removes_much_output_in_pieces) {
    std::uint64_t offset = 0;
    for (int i = 0; i < 12; ++i) {
        std::vector<LogChunk> chunks;
        for (int j = 0; j < 100; ++j) chunks.push_back({one, offset++, "a"});
        ASSERT_TRUE(run(blobs_->append(std::move(chunks))).has_value());
    }
    ASSERT_TRUE(append(other, 0, "c").has_value());
    EXPECT_TRUE(run(blobs_->remove({one.job}))->unfinished);
    EXPECT_GT(end(one), 0U) << "it was not all at once";
    EXPECT_TRUE(run(blobs_->remove({}))->unfinished);
    EXPECT_FALSE(run(blobs_->remove({JobId{99}}))->unfinished);
    EXPECT_EQ(end(one), 0U);
    EXPECT_EQ(text(other), "c");
    EXPECT_FALSE(run(blobs_->remove({}))->unfinished);
}

// Every column is overwritten with what a broken disk or a hand in the file may leave there (C9).
// What others print is kept, and nothing that is not there is called kept.
class DamagedPieces : public SqliteBlobsTest {
protected:
    DamagedPieces() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-blobs-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~DamagedPieces() override {
        blobs_.reset();
        std::filesystem::remove_all(folder_);
    }
    void open(const std::string& path) {
        auto opened = SqliteBlobs::open({.path = path, .threads = GetParam()});
        ASSERT_TRUE(opened.has_value()) << opened.error().what;
        blobs_ = std::move(*opened);
    }
    void fill(const std::string& path) {
        open(path);
        ASSERT_TRUE(append(one, 0, "abc").has_value());
        ASSERT_TRUE(append(one, 3, "def").has_value());
        ASSERT_TRUE(append(other, 0, "xyz").has_value());
        blobs_.reset();
    }
    // False: the file does not take it.
    static bool damage(const std::string& path, const std::string& change) {
        sqlite3* handle = nullptr;
        EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
        const auto text = "PRAGMA ignore_check_constraints = 1; UPDATE piece SET " + change +
                          " WHERE job = 5 AND start = 3";
        const bool done =
            sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK &&
            sqlite3_changes(handle) == 1;
        sqlite3_close(handle);
        return done;
    }
    void expect_that_it_goes_on(bool length_is_kept) {
        const auto read = run(blobs_->read(one, 0, 100));
        EXPECT_TRUE(read || read.is(Errc::corrupt)) << read.error().what;
        const auto more = append(one, 6, "ghi");
        EXPECT_TRUE(more || more.is(Errc::conflict) || more.is(Errc::corrupt)) << more.error().what;
        if (more && length_is_kept) {
            EXPECT_EQ(text(one, 6), "ghi");
        }
        EXPECT_TRUE(append(other, 3, "!").has_value());
        EXPECT_EQ(text(other), "xyz!");
        EXPECT_TRUE(run(blobs_->remove({one.job})).has_value());
        EXPECT_EQ(end(one), 0U);
    }

    std::string folder_;
};

TEST_P(DamagedPieces, stop_nobody_else) {
    int taken = 0;
    for (const std::string column : {"job", "epoch", "start", "bytes"})
        for (const std::string value : {"-1", "0", "9223372036854775807", "NULL", "x'ff00ff00ff'",
                                        "x''", "'@@'", "CAST(x'ff' AS TEXT)"}) {
            SCOPED_TRACE(column + " = " + value);
            const auto path = folder_ + "/" + std::to_string(taken) + ".db";
            std::filesystem::remove(path);
            fill(path);
            if (!damage(path, column + " = " + value)) continue;
            ++taken;
            open(path);
            expect_that_it_goes_on(column != "bytes");
        }
    EXPECT_GE(taken, 10);
}

INSTANTIATE_TEST_SUITE_P(BlockingThread, DamagedPieces, testing::Bool(),
                         [](const auto& test) { return test.param ? "with_a_thread" : "inline"; });
INSTANTIATE_TEST_SUITE_P(BlockingThread, SqliteBlobsTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "with_a_thread" : "inline"; });

}  // namespace
}  // namespace perdure
