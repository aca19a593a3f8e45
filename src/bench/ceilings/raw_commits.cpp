#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "bench/ceilings/ceilings.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Prepared = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// As long as what Perdure keeps of the bench's job.
constexpr const char* commit_body = "{\"kind\":\"perdure.noop\",\"queue\":\"lives\"}";

Database open_database(const std::string& path, int flags) {
    sqlite3* database = nullptr;
    const bool is_open = sqlite3_open_v2(path.c_str(), &database, flags, nullptr) == SQLITE_OK;
    Database owned(database);
    return is_open ? std::move(owned) : nullptr;
}

Prepared prepare_in(sqlite3* database, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
    return Prepared(statement);
}

bool execute(sqlite3* database, const char* sql) {
    return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool insert_rows(sqlite3_stmt* insert, std::size_t rows) {
    bool fine = true;
    for (std::size_t i = 0; i < rows; ++i) {
        fine = fine && sqlite3_step(insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    return fine;
}

Result<double> commit_again_and_again(const std::string& path, std::size_t commits,
                                      std::size_t rows) {
    const auto database = open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    bool fine = database && execute(database.get(), "PRAGMA journal_mode = WAL") &&
                execute(database.get(), "PRAGMA synchronous = FULL") &&
                execute(database.get(), "CREATE TABLE job (id INTEGER PRIMARY KEY, body TEXT)");
    const auto insert =
        fine ? prepare_in(database.get(), "INSERT INTO job (body) VALUES (?1)") : nullptr;
    if (!insert) return error(Errc::unavailable, "SQLite failed with " + path);
    sqlite3_bind_text(insert.get(), 1, commit_body, -1, SQLITE_STATIC);
    const Stopwatch watch;
    for (std::size_t i = 0; i < commits && fine; ++i)
        fine = execute(database.get(), "BEGIN IMMEDIATE") && insert_rows(insert.get(), rows) &&
               execute(database.get(), "COMMIT");
    if (!fine) return error(Errc::unavailable, "SQLite failed with " + path);
    return watch.rate(commits);
}

}  // namespace

Result<double> measure_raw_commits(const std::string& folder, std::size_t commits,
                                   std::size_t rows) {
    const auto path = folder + "/raw-commits.db";
    auto rate = commit_again_and_again(path, commits, rows);
    std::error_code ignored;
    for (const auto* part : {"", "-wal", "-shm"}) std::filesystem::remove(path + part, ignored);
    return rate;
}

Result<std::size_t> count_rows(const std::string& path) {
    const auto database = open_database(path, SQLITE_OPEN_READONLY);
    if (!database) return error(Errc::unavailable, "cannot read " + path);
    std::vector<std::string> tables;
    const auto list = prepare_in(database.get(),
                                 "SELECT name FROM sqlite_schema WHERE type = "
                                 "'table' AND name NOT LIKE 'sqlite_%'");
    while (list && sqlite3_step(list.get()) == SQLITE_ROW)
        tables.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(list.get(), 0)));
    std::size_t rows = 0;
    for (const auto& table : tables) {
        const auto count =
            prepare_in(database.get(), fmt::format("SELECT count(*) FROM \"{}\"", table));
        if (!count || sqlite3_step(count.get()) != SQLITE_ROW)
            return error(Errc::unavailable, "cannot count the rows of " + table);
        rows += static_cast<std::size_t>(sqlite3_column_int64(count.get(), 0));
    }
    return rows;
}

}  // namespace perdure::bench
