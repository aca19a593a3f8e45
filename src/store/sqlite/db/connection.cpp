#include "store/sqlite/db/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "store/sqlite/db/idle_file.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {
namespace {

constexpr int busy_ms = 5'000;
constexpr int steps_between_looks = 10'000;  // some tenths of a millisecond

int flags_for(Connection::Access access) {
    switch (access) {
        case Connection::Access::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        case Connection::Access::write: return SQLITE_OPEN_READWRITE;
        case Connection::Access::read: return SQLITE_OPEN_READONLY;
        case Connection::Access::file_alone: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    }
    return SQLITE_OPEN_READONLY;
}

std::string name_for(const std::string& path, Connection::Access access) {
    if (access != Connection::Access::file_alone) return path;
    std::string name = "file:";
    for (const char c : path) {
        const bool is_special = c == '?' || c == '#' || c == '%';
        name +=
            is_special ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return name + "?immutable=1";
}

// SQLite may call a full disk an I/O error, for instance when it cannot grow its shared memory. A
// failed sync is never harmless, whatever its reason.
bool is_full(int code, int system_error) {
    if ((code & 0xff) == SQLITE_FULL) return true;
    const bool is_sync = code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
    return !is_sync && (system_error == ENOSPC || system_error == EDQUOT);
}

Failure failure_of(int code, int system_error, const std::string& what) {
    if (is_full(code, system_error))
        return {error(Errc::unavailable, "disk full: free some space; " + what)};
    switch (code & 0xff) {
        case SQLITE_IOERR: return {error(Errc::unavailable, "the disk failed: " + what), true};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_TOOBIG: return {error(Errc::corrupt, what)};
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return {error(Errc::unavailable, "the disk or file is read-only: " + what)};
        case SQLITE_INTERRUPT:
            return {error(Errc::overloaded,
                          "this read took too long and was given up: ask again later, or for less "
                          "at a time")};
        default: return {error(Errc::unavailable, what)};
    }
}

// SQLite counts what it allocates, under a lock for all of its connections, unless it is told not
// to before its first use.
void configure_once() {
    static const int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    std::ignore = code;
}

}  // namespace

Connection::Connection(const std::string& path, Access access) : path_(path) {
    configure_once();
    const int flags =
        flags_for(access) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW;
    const int code = sqlite3_open_v2(name_for(path, access).c_str(), &handle_, flags, nullptr);
    if (code != SQLITE_OK) {
        const auto failure =
            failure_of(code, handle_ ? sqlite3_system_errno(handle_) : 0,
                       fmt::format("cannot open {}: {}", path, sqlite3_errstr(code)));
        sqlite3_close(handle_);
        throw failure;
    }
    sqlite3_busy_timeout(handle_, busy_ms);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_LOOKASIDE, nullptr, 1'200, 400);
    const auto note_pages = [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Connection*>(self)->log_pages_ = pages;
        return SQLITE_OK;
    };
    // In place of the automatic checkpoint.
    sqlite3_wal_hook(handle_, note_pages, this);
    // Who closes last has not always marked the file as closed: the log stays beside it.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

Connection::~Connection() { sqlite3_close_v2(handle_); }

void Connection::fail(int code, const char* doing) {
    const int system_error = sqlite3_system_errno(handle_);
    auto what = fmt::format("{}: {}: {}", path_, doing, sqlite3_errmsg(handle_));
    if (system_error != 0 && (code & 0xff) != SQLITE_CONSTRAINT)
        what += fmt::format(" ({})", std::strerror(system_error));
    throw failure_of(code, system_error, what);
}

// A statement that answers nothing for long is asked by SQLite itself, one that answers many rows
// by whoever takes them.
void Connection::end_reads_when(ReadIsOver is_over) {
    read_is_over_ = std::move(is_over);
    const auto ask = [](void* self) {
        return static_cast<Connection*>(self)->read_is_over_() ? 1 : 0;
    };
    sqlite3_progress_handler(handle_, read_is_over_ ? steps_between_looks : 0,
                             read_is_over_ ? +ask : nullptr, this);
}

void Connection::stop_if_over() {
    if (read_is_over_()) fail(SQLITE_INTERRUPT, "read");
}

void Connection::run(const char* sql) {
    const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code, sql);
}

std::string Connection::text(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr);
    if (code != SQLITE_OK) fail(code, sql);
    code = sqlite3_step(statement);
    std::string answer;
    if (code == SQLITE_ROW) {
        const auto* found = sqlite3_column_text(statement, 0);
        if (found) answer = reinterpret_cast<const char*>(found);
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code, sql);
    return answer;
}

std::int64_t Connection::number(const char* sql) {
    const auto answer = text(sql);
    return answer.empty() ? 0 : std::strtoll(answer.c_str(), nullptr, 10);
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

std::unique_ptr<sql::Prepared> Connection::prepare(const char* sql) {
    return std::make_unique<PreparedStatement>(*this, sql);
}

void Connection::begin(Kind kind) { run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN"); }
void Connection::commit() { run("COMMIT"); }
const sql::Notes* Connection::notes() const { return notes_; }

void Connection::roll_back() noexcept {
    if (in_transaction()) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Connection::checkpoint() {
    int in_log = 0;
    int moved = 0;
    const int code =
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
    // Busy: a reader still needs the log. The next commit tries again.
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) fail(code, "checkpoint");
    log_pages_ = in_log > moved ? in_log - moved : 0;
}

bool Connection::empty_log() {
    const int code =
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if ((code & 0xff) == SQLITE_BUSY) return false;
    if (code != SQLITE_OK) fail(code, "move the log into the file");
    log_pages_ = 0;
    return true;
}

std::int64_t Connection::rows_changed() const { return sqlite3_total_changes64(handle_); }

LogFile Connection::log_file() {
    sqlite3_file* file = nullptr;
    const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (code != SQLITE_OK) fail(code, "look for the log");
    PERDURE_ASSERT(file && file->pMethods);
    return {file, path_};
}

std::optional<Error> LogFile::sync() {
    const int code = file_->pMethods->xSync(file_, SQLITE_SYNC_NORMAL);
    if (code == SQLITE_OK) return std::nullopt;
    return failure_of(code, errno, fmt::format("{}: sync of the log", path_)).error;
}

}  // namespace perdure::store::sqlite
