#include "store/sqlite/db/file_mark.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "store/sqlite/db/durable_file.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {
namespace {

constexpr std::array<std::string_view, 2> mark_names = {"closed", "in_use"};

std::string_view name_of(FileMark mark) { return mark_names[static_cast<std::size_t>(mark)]; }

Failure is_without_log(const std::string& path) {
    return {error(
        Errc::corrupt,
        fmt::format("{0} was in use, and its log {0}-wal, which has the latest commits, is not "
                    "there: put it beside the file again, or restore a backup. If another program "
                    "has moved the log into the file: perdure migrate --without-log",
                    path))};
}

}  // namespace

Failure without_schema(const std::string& path) {
    return {error(Errc::corrupt,
                  fmt::format("{0} has nothing in it: its log {0}-wal is missing, or the file was "
                              "cut off: put the log beside it again, or restore a backup; to begin "
                              "anew, move the file away",
                              path))};
}

FileMark mark_of(Connection& connection) {
    const auto has_one =
        connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'mark'");
    if (has_one == 0) return FileMark::closed;
    const auto text = connection.text("SELECT mark FROM mark");
    return text == name_of(FileMark::in_use) ? FileMark::in_use : FileMark::closed;
}

void put_mark(Connection& connection, FileMark mark) {
    Transaction transaction(connection, Transaction::Kind::write);
    connection.run(
        "CREATE TABLE IF NOT EXISTS mark (one INTEGER PRIMARY KEY CHECK (one = 1),"
        " mark TEXT NOT NULL) STRICT");
    Statement put(connection, "INSERT OR REPLACE INTO mark (one, mark) VALUES (1, ?)");
    put.run_one({name_of(mark)});
    transaction.commit();
    connection.empty_log();
}

void check_whole(const std::string& path, LostLog lost) {
    if (is_there(path + "-wal")) return;
    // Not as it is usually opened: that would make a log.
    Connection file(path, Connection::Access::file_alone);
    if (file.number("SELECT count(*) FROM sqlite_schema") == 0) throw without_schema(path);
    if (mark_of(file) == FileMark::in_use && lost == LostLog::refuse) throw is_without_log(path);
}

void close_whole(Connection& connection) {
    if (connection.is_in_memory()) return;
    // First all the rest: what is moved at once is not moved in order.
    if (connection.empty_log()) put_mark(connection, FileMark::closed);
}

}  // namespace perdure::store::sqlite
