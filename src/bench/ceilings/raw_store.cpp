#include <sqlite3.h>

#include "bench/ceilings/ceilings.h"
#include "bench/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t batch = 1000;
// As long as what Perdure keeps of the bench's job.
constexpr const char* body = "{\"kind\":\"perdure.noop\",\"queue\":\"lives\"}";

class RawQueue {
public:
    explicit RawQueue(const std::string& path) {
        fine_ = sqlite3_open(path.c_str(), &database_) == SQLITE_OK;
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
        run("CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, owner INTEGER,"
            " body TEXT NOT NULL) STRICT");
        insert_ = prepare("INSERT INTO job VALUES (?1, 0, NULL, ?2)");
        claim_ = prepare("UPDATE job SET state = 1, owner = 1 WHERE id = ?1 AND state = 0");
        finish_ = prepare("UPDATE job SET state = 2, owner = NULL WHERE id = ?1 AND state = 1");
    }
    ~RawQueue() {
        for (auto* statement : {insert_, claim_, finish_}) sqlite3_finalize(statement);
        sqlite3_close(database_);
    }
    RawQueue(const RawQueue&) = delete;
    RawQueue& operator=(const RawQueue&) = delete;

    void insert(std::size_t first) { transaction(insert_, first); }
    void claim(std::size_t first) { transaction(claim_, first); }
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
            fine_ = fine_ && sqlite3_changes(database_) == 1;
            sqlite3_reset(statement);
        }
        run("COMMIT");
    }

    sqlite3* database_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* claim_ = nullptr;
    sqlite3_stmt* finish_ = nullptr;
    bool fine_ = true;
};

}  // namespace

Result<StoreCeiling> measure_raw_store(const std::string& folder, std::size_t lives,
                                       std::size_t backlog) {
    StoreCeiling ceiling;
    RawQueue queue(folder + "/raw.db");
    std::size_t next = 1;
    const Stopwatch living;
    for (const auto end = next + lives; next < end; next += batch) {
        queue.insert(next);
        queue.claim(next);
        queue.finish(next);
    }
    ceiling.lives_per_s = living.rate(lives);

    const auto first = next;
    for (const auto end = first + backlog; next < end; next += batch) queue.insert(next);
    const Stopwatch draining;
    for (auto job = first; job < next; job += batch) {
        queue.claim(job);
        queue.finish(job);
    }
    ceiling.drain_per_s = draining.rate(backlog);
    if (!queue.fine()) return error(Errc::unavailable, "SQLite failed in " + folder);
    return ceiling;
}

}  // namespace perdure::bench
