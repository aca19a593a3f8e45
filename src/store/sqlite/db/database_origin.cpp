#include "store/sqlite/db/database_origin.h"

#include <fmt/format.h>

#include "store/sqlite/db/statement.h"
#include "wire/text_time.h"

namespace perdure::store::sqlite {

std::optional<Origin> origin_of(Connection& connection) {
    if (connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'origin'") == 0)
        return std::nullopt;
    Statement all(connection, "SELECT kind, taken_on, directory FROM origin");
    auto row = all.query({});
    if (!row.next()) return std::nullopt;
    // Of two doubts the one that runs nothing.
    const auto kind = row.bytes(0) == "copy" ? Origin::Kind::copy : Origin::Kind::backup;
    return Origin{kind, row.at<WallTime>(1), row.text(2)};
}

std::optional<std::string> copied_from(Connection& connection) {
    const auto origin = origin_of(connection);
    if (!origin) return std::nullopt;
    return fmt::format("the backup of {} at {}", origin->directory, time_text(origin->taken_on));
}

void refuse_backup(Connection& connection) {
    const auto origin = origin_of(connection);
    if (origin && origin->kind == Origin::Kind::backup)
        throw Failure{error(Errc::conflict,
                            fmt::format("{} is a backup: restore it into another directory with "
                                        "`perdure restore`",
                                        connection.path()))};
}

void put_origin(Connection& connection, const std::optional<Origin>& origin) {
    Transaction transaction(connection, Transaction::Kind::write);
    connection.run("DROP TABLE IF EXISTS origin");
    if (origin) {
        connection.run(
            "CREATE TABLE origin (kind TEXT NOT NULL, taken_on INTEGER NOT NULL,"
            " directory TEXT NOT NULL) STRICT");
        Statement put(connection,
                      "INSERT INTO origin (kind, taken_on, directory) VALUES (?, ?, ?)");
        const bool is_copy = origin->kind == Origin::Kind::copy;
        put.run_one({std::string_view(is_copy ? "copy" : "backup"), origin->taken_on,
                     std::string_view(origin->directory)});
    }
    transaction.commit();
}

}  // namespace perdure::store::sqlite
