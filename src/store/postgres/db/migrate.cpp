#include "store/postgres/db/migrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace perdure::store::postgres {
namespace {

// A migration that takes nothing away from programs which know only older ones says so in a line
// `-- serves: 3`: programs that know the third can go on. Without it, only those that know it can.
int serves_from(const Migration& migration) {
    constexpr std::string_view word = "\n-- serves: ";
    const auto at = migration.sql.find(word);
    if (at == std::string_view::npos) return migration.number;
    int number = 0;
    for (const char c : migration.sql.substr(at + word.size())) {
        if (c < '0' || c > '9') break;
        number = 10 * number + (c - '0');
    }
    return number;
}

struct Applied {
    std::string name;
    std::string checksum;
    int serves_from = 0;
};

std::map<int, Applied> applied_to(Connection& connection) {
    std::map<int, Applied> all;
    const auto there = connection.text("SELECT to_regclass('migration')");
    if (there.empty()) return all;
    sql::Statement statement(connection,
                             "SELECT number, name, checksum, serves_from FROM migration");
    for (auto row = statement.query({}); row.next();)
        all[static_cast<int>(row.number(0))] = {row.text(1), row.text(2),
                                                static_cast<int>(row.number(3))};
    return all;
}

void check(const std::map<int, Applied>& applied, const std::vector<Migration>& known) {
    const int newest = known.back().number;
    for (const auto& [number, migration] : applied) {
        const auto found = std::find_if(known.begin(), known.end(),
                                        [&, n = number](const auto& m) { return m.number == n; });
        if (found != known.end() && checksum(found->sql) != migration.checksum)
            fail_corrupt(fmt::format(
                "migration {} ({}) of this database is not the one that this program has: use the "
                "program that made it, or a release of it",
                number, migration.name));
        if (found == known.end() && migration.serves_from > newest)
            throw Failure{error(
                Errc::conflict,
                fmt::format("the database has schema {}, which serves programs that know schema "
                            "{}, and this one knows only {}: use a newer one",
                            number, migration.serves_from, newest))};
    }
}

void apply(Connection& connection, const Migration& migration) {
    const auto note = fmt::format(
        "INSERT INTO migration (number, name, checksum, serves_from) VALUES ({}, '{}', '{}', {});",
        migration.number, migration.name, checksum(migration.sql), serves_from(migration));
    connection.run_script(fmt::format("BEGIN;{};{}COMMIT;", migration.sql, note));
}

}  // namespace

std::string checksum(std::string_view sql) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : sql) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return fmt::format("{:016x}", hash);
}

int migrate(Connection& connection, const std::vector<Migration>& known) {
    const auto& schema = connection.target().schema;
    // Who may not make schemas can be given one that is empty.
    const auto there = connection.text(
        fmt::format("SELECT 1 FROM pg_namespace WHERE nspname = '{}'", schema).c_str());
    if (there.empty()) connection.run(fmt::format("CREATE SCHEMA \"{}\"", schema).c_str());
    connection.run(
        "CREATE TABLE IF NOT EXISTS migration (number bigint PRIMARY KEY, name text NOT NULL,"
        " checksum text NOT NULL, serves_from bigint NOT NULL)");
    const auto applied = applied_to(connection);
    check(applied, known);
    int count = 0;
    for (const auto& migration : known) {
        if (applied.contains(migration.number)) continue;
        apply(connection, migration);
        ++count;
    }
    return count;
}

void check_schema(Connection& connection, const std::vector<Migration>& known) {
    const auto applied = applied_to(connection);
    check(applied, known);
    if (!applied.contains(known.back().number))
        throw Failure{error(Errc::conflict,
                            "the database has an older schema than this program needs: start a "
                            "server of this release once, which brings it up to date")};
}

}  // namespace perdure::store::postgres
