// Connection: one handle to one SQLite file. Every error of SQLite becomes a Failure with the
// reaction that fits: a full disk is `unavailable` and passes, an I/O error is fatal, a broken
// file is `corrupt`. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "store/engine/failure.h"
#include "store/sql/statement.h"

struct sqlite3;
struct sqlite3_file;

namespace perdure::store::sqlite {

class IdleFile;

// When so many pages are in the log they are moved into the file: after the answer, by the writer.
inline constexpr int log_pages_max = 4'000;

// The write-ahead log of an open connection. May be synced while that goes on writing.
class LogFile {
public:
    LogFile(sqlite3_file* file, std::string path) : file_(file), path_(std::move(path)) {}
    std::optional<Error> sync();

private:
    sqlite3_file* file_;
    std::string path_;
};

using sql::ReadIsOver;
using sql::Transaction;

class Connection final : public sql::Database {
public:
    // `file_alone`: read as it is on the disk, without log and locks; while nobody writes it.
    enum class Access { create, write, read, file_alone };

    // `:memory:` is a database of its own.
    Connection(const std::string& path, Access access);
    ~Connection() override;

    // Statements without parameters and without rows.
    void run(const char* sql);
    std::int64_t number(const char* sql);  // the one number that a query answers
    std::string text(const char* sql);

    std::unique_ptr<sql::Prepared> prepare(const char* sql) override;
    bool in_transaction() const override;
    void begin(Kind kind) override;
    void commit() override;
    void roll_back() noexcept override;

    // Pages in the log after the last commit; only this connection moves them into the file.
    int log_pages() const { return log_pages_; }
    void checkpoint();
    // Moves all of it and leaves the log without content; false if a reader still needs it.
    bool empty_log();
    bool is_in_memory() const { return path_ == ":memory:"; }
    const std::string& path() const { return path_; }
    // Rows that it has ever written or removed.
    std::int64_t rows_changed() const;
    // Good as long as the connection is open.
    LogFile log_file();

    void end_reads_when(ReadIsOver is_over) override;
    // Called for each row that a query answers.
    void note_row() {
        if (read_is_over_ && ++rows_read_ % rows_between_looks == 0) stop_if_over();
    }

    // What is noted beside the database; null: nothing is.
    void use_notes(IdleFile* notes) { notes_ = notes; }
    IdleFile* idle_file() const { return notes_; }
    const sql::Notes* notes() const override;

    // What its statements have done: about 10 to 60 for each row that is found by its key. Counted
    // only for a caller that has asked for it; for tests.
    void count_steps() { counts_steps_ = true; }
    bool counts_steps() const { return counts_steps_; }
    void add_steps(int steps) { steps_ += static_cast<std::uint64_t>(steps); }
    std::uint64_t steps() const { return steps_; }

    sqlite3* handle() { return handle_; }
    [[noreturn]] void fail(int code, const char* doing);

private:
    static constexpr std::uint64_t rows_between_looks = 128;
    void stop_if_over();

    sqlite3* handle_ = nullptr;
    std::string path_;
    int log_pages_ = 0;
    IdleFile* notes_ = nullptr;
    ReadIsOver read_is_over_;
    std::uint64_t rows_read_ = 0;
    bool counts_steps_ = false;
    std::uint64_t steps_ = 0;
};

}  // namespace perdure::store::sqlite
