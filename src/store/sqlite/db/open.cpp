#include "store/sqlite/db/open.h"

#include <sqlite3.h>

#include <string>

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

void prepare_writer(Connection& connection, const Schema& schema, Durability durability) {
    schema_version(connection, schema);  // a file of somebody else is left as it is
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
    connection.run("PRAGMA cache_size = -16000");
    connection.run("PRAGMA trusted_schema = OFF");
    migrate(connection, schema);
}

void prepare_reader(Connection& connection) {
    connection.run("PRAGMA query_only = ON");
    connection.run("PRAGMA temp_store = MEMORY");
    connection.run("PRAGMA trusted_schema = OFF");
}

}  // namespace perdure::store::sqlite
