#include <sqlite3.h>

#include <filesystem>

#include "bench/ceilings/ceilings.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t batch = 1000;
// As long as what Perdure keeps of the bench's job.
constexpr const char* body = "{\"kind\":\"perdure.noop\",\"queue\":\"lives\"}";

// `blind`: claims are told which rows to take. `found`: they take the first ones that wait, and
// learn what those are, as every queue must.
class RawQueue {
public:
    enum class Claims { blind, found };

    RawQueue(const std::string& path, Claims claims) : claims_(claims) {
        fine_ = sqlite3_open(path.c_str(), &database_) == SQLITE_OK;
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
        run("CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, owner INTEGER,"
            " body TEXT NOT NULL) STRICT");
        if (claims == Claims::found) run("CREATE INDEX line ON job (id) WHERE state = 0");
        insert_ = prepare("INSERT INTO job VALUES (?1, 0, NULL, ?2)");
        claim_ = prepare(claims == Claims::blind
                             ? "UPDATE job SET state = 1, owner = 1 WHERE id = ?1 AND state = 0"
                             : "UPDATE job SET state = 1, owner = 1 WHERE id IN"
                               " (SELECT id FROM job INDEXED BY line WHERE state = 0"
                               " ORDER BY id LIMIT ?1) RETURNING id, body");
        finish_ = prepare("UPDATE job SET state = 2, owner = NULL WHERE id = ?1 AND state = 1");
    }
    ~RawQueue() {
        for (auto* statement : {insert_, claim_, finish_}) sqlite3_finalize(statement);
        sqlite3_close(database_);
    }
    RawQueue(const RawQueue&) = delete;
    RawQueue& operator=(const RawQueue&) = delete;

    void insert(std::size_t first) { transaction(insert_, first); }
    void claim(std::size_t first) {
        if (claims_ == Claims::blind) return transaction(claim_, first);
        run("BEGIN IMMEDIATE");
        take_the_first();
        run("COMMIT");
    }
    void finish(std::size_t first) { transaction(finish_, first); }
    bool fine() const { return fine_; }

private:
    sqlite3_stmt* prepare(const char* sql) {
        sqlite3_stmt* statement = nullptr;
        fine_ = fine_ && sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                            &statement, nullptr) == SQLITE_OK;
        if (statement && sqlite3_bind_parameter_count(statement) == 2)
            sqlite3_bind_text(statement, 2, body, -1, SQLITE_STATIC);
        return statement;
    }

    void run(const char* sql) {
        fine_ = fine_ && sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }

    void transaction(sqlite3_stmt* statement, std::size_t first) {
        run("BEGIN IMMEDIATE");
        for (std::size_t id = first; id < first + batch; ++id) {
            sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(id));
            fine_ = fine_ && sqlite3_step(statement) == SQLITE_DONE;
            fine_ = fine_ && sqlite3_changes64(database_) == 1;
            sqlite3_reset(statement);
        }
        run("COMMIT");
    }

    void take_the_first() {
        sqlite3_bind_int64(claim_, 1, static_cast<sqlite3_int64>(batch));
        std::size_t taken = 0;
        while (sqlite3_step(claim_) == SQLITE_ROW) {
            const bool known =
                sqlite3_column_int64(claim_, 0) > 0 && sqlite3_column_bytes(claim_, 1) > 0;
            if (known) ++taken;
        }
        sqlite3_reset(claim_);
        fine_ = fine_ && taken == batch;
    }

    Claims claims_;
    sqlite3* database_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* claim_ = nullptr;
    sqlite3_stmt* finish_ = nullptr;
    bool fine_ = true;
};

double live(RawQueue& queue, std::size_t jobs) {
    const Stopwatch watch;
    for (std::size_t job = 1; job <= jobs; job += batch) {
        queue.insert(job);
        queue.claim(job);
        queue.finish(job);
    }
    return watch.rate(jobs);
}

double drain(RawQueue& queue, std::size_t jobs) {
    for (std::size_t job = 1; job <= jobs; job += batch) queue.insert(job);
    const Stopwatch watch;
    for (std::size_t job = 1; job <= jobs; job += batch) {
        queue.claim(job);
        queue.finish(job);
    }
    return watch.rate(jobs);
}

// In a file of its own, that is gone afterwards.
Result<double> measure(const std::string& folder, RawQueue::Claims claims,
                       double (*what)(RawQueue&, std::size_t), std::size_t jobs) {
    const auto path = folder + "/raw.db";
    double rate = 0;
    bool fine = false;
    {
        RawQueue queue(path, claims);
        rate = what(queue, jobs);
        fine = queue.fine();
    }
    std::error_code ignored;
    for (const auto* part : {"", "-wal", "-shm"}) std::filesystem::remove(path + part, ignored);
    if (!fine) return error(Errc::unavailable, "SQLite failed in " + folder);
    return rate;
}

Result<StoreCeiling> measure_both(const std::string& folder, double (*what)(RawQueue&, std::size_t),
                                  std::size_t jobs) {
    const auto found = measure(folder, RawQueue::Claims::found, what, jobs);
    if (!found) return found.error();
    const auto blind = measure(folder, RawQueue::Claims::blind, what, jobs);
    if (!blind) return blind.error();
    return StoreCeiling{*found, *blind};
}

}  // namespace

Result<StoreCeiling> measure_raw_lives(const std::string& folder, std::size_t jobs) {
    return measure_both(folder, live, jobs);
}

Result<StoreCeiling> measure_raw_drain(const std::string& folder, std::size_t jobs) {
    return measure_both(folder, drain, jobs);
}

}  // namespace perdure::bench
