#include "store/sqlite/db/migrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/sqlite/db/embedded.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {
namespace {

void check_applied(Connection& connection, const std::vector<Migration>& known) {
    Statement applied(connection, "SELECT number, name, checksum FROM migration ORDER BY number");
    auto row = applied.query({});
    while (row.next()) {
        const auto number = row.number(0);
        const auto found = std::find_if(known.begin(), known.end(),
                                        [&](const Migration& m) { return m.number == number; });
        const bool same = found != known.end() && checksum(found->sql) == row.bytes(2);
        if (!same)
            fail_corrupt(fmt::format(
                "migration {} ({}) of this database is not the one that this program has: use the "
                "program that made it, or a release of it",
                number, row.text(1)));
    }
}

void apply(Connection& connection, const Migration& migration) {
    Transaction transaction(connection, Transaction::Kind::write);
    connection.run(std::string(migration.sql).c_str());
    Statement note(connection, "INSERT INTO migration (number, name, checksum) VALUES (?, ?, ?)");
    note.run_one({migration.number, migration.name, checksum(migration.sql)});
    connection.run(fmt::format("PRAGMA user_version = {}", migration.number).c_str());
    transaction.commit();
}

}  // namespace

Schema store_schema() { return {0x50647572, migrations()}; }
Schema log_schema() { return {0x506c6f67, log_migrations()}; }

std::string checksum(std::string_view sql) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : sql) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return fmt::format("{:016x}", hash);
}

int schema_version(Connection& connection, const Schema& schema) {
    const auto tables = connection.number("SELECT count(*) FROM sqlite_schema");
    if (tables == 0) return 0;
    if (connection.number("PRAGMA application_id") != schema.application_id)
        throw Failure{error(Errc::corrupt,
                            "the file is a database of another program: choose another data "
                            "directory, or move the file away")};
    return static_cast<int>(connection.number("PRAGMA user_version"));
}

int migrate(Connection& connection, const Schema& schema) {
    const auto& known = schema.migrations;
    const int version = schema_version(connection, schema);
    const int newest = known.empty() ? 0 : known.back().number;
    if (version > newest)
        throw Failure{
            error(Errc::conflict,
                  fmt::format("the database has schema {} and this program knows only {}: use the "
                              "program that wrote it, or a newer one",
                              version, newest))};
    if (version == 0) {
        Transaction transaction(connection, Transaction::Kind::write);
        connection.run(fmt::format("PRAGMA application_id = {}", schema.application_id).c_str());
        connection.run(
            "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
            " checksum TEXT NOT NULL) STRICT");
        transaction.commit();
    }
    check_applied(connection, known);
    int applied = 0;
    for (const auto& migration : known) {
        if (migration.number <= version) continue;
        apply(connection, migration);
        ++applied;
    }
    return applied;
}

}  // namespace perdure::store::sqlite
