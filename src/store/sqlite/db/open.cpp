#include "store/sqlite/db/open.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <string>

#include "store/sqlite/db/database_origin.h"
#include "store/sqlite/db/durable_file.h"

namespace perdure::store::sqlite {

namespace {

// NORMAL still syncs whenever pages move from the log into the file.
const char* pragma_for(Durability durability) {
    switch (durability) {
        case Durability::at_commit: return "PRAGMA synchronous = FULL";
        case Durability::after_commit: return "PRAGMA synchronous = NORMAL";
        case Durability::none: return "PRAGMA synchronous = OFF";
    }
    return "PRAGMA synchronous = FULL";
}

}  // namespace

const std::string& made(const std::string& path, const Schema& schema, LostLog lost) {
    if (path == ":memory:") return path;
    if (is_there(path)) {
        check_whole(path, lost);
        return path;
    }
    if (is_there(path + "-wal"))
        throw Failure{
            error(Errc::corrupt, fmt::format("{0} is missing, and its log {0}-wal is there: put "
                                             "them together again, or restore a backup; to begin "
                                             "anew, move the log away",
                                             path))};
    const auto fresh = path + ".new";
    remove_database(fresh);
    {
        Connection connection(fresh, Connection::Access::create);
        connection.run("PRAGMA synchronous = OFF");
        connection.run("PRAGMA journal_mode = MEMORY");
        migrate(connection, schema);
    }
    rename_durably(fresh, path);
    return path;
}

void prepare_writer(Connection& connection, const Schema& schema, Durability durability) {
    const int version =
        schema_version(connection, schema);  // one of somebody else is left as it is
    if (version == 0 && !connection.is_in_memory()) throw without_schema(connection.path());
    refuse_backup(connection);
    // SQLite opens what it must not write as read-only without a word.
    if (sqlite3_db_readonly(connection.handle(), "main") == 1)
        throw Failure{error(Errc::unavailable,
                            "the database is read-only: give its user the right to write the data "
                            "directory, or mount the disk writable")};
    const auto mode = connection.text("PRAGMA journal_mode = WAL");
    if (mode != "wal" && mode != "memory")
        throw Failure{error(Errc::unavailable,
                            "this file system cannot keep a write-ahead log: choose a data "
                            "directory on a local disk")};
    connection.run(pragma_for(durability));
    connection.run("PRAGMA secure_delete = OFF");
    connection.run("PRAGMA temp_store = MEMORY");
    // A log that had to grow, because somebody read for long, is cut off when it begins anew.
    connection.run("PRAGMA journal_size_limit = 67108864");
    connection.run("PRAGMA cache_size = -16000");
    connection.run("PRAGMA trusted_schema = OFF");
    migrate(connection, schema);
    if (!connection.is_in_memory()) put_mark(connection, FileMark::in_use);
}

void prepare_reader(Connection& connection) {
    connection.run("PRAGMA query_only = ON");
    connection.run("PRAGMA temp_store = MEMORY");
    connection.run("PRAGMA trusted_schema = OFF");
}

}  // namespace perdure::store::sqlite
