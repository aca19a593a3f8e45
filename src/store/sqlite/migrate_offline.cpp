#include "store/sqlite/migrate_offline.h"

#include <fmt/format.h>

#include "store/sqlite/db/durable_file.h"
#include "store/sqlite/db/open.h"

namespace perdure {
namespace {

using namespace store;
using namespace store::sqlite;

int migrate_file(const std::string& path, const Schema& schema, LostLog lost) {
    const bool is_new = !is_there(path);
    Connection connection(made(path, schema, lost), Connection::Access::write);
    const int before = is_new ? 0 : schema_version(connection, schema);
    prepare_writer(connection, schema, Durability::at_commit);
    close_whole(connection);
    return schema.migrations.back().number - before;
}

}  // namespace

Result<std::string> migrate_offline(const DataDirectory& directory, LostLog lost) {
    try {
        const int store = migrate_file(directory.database(), store_schema(), lost);
        const int logs = migrate_file(directory.logs(), log_schema(), lost);
        if (store + logs == 0) return std::string("nothing to do: the schema is the newest");
        return fmt::format("{} applied to perdure.db, {} to logs.db", store, logs);
    } catch (const Failure& failure) {
        return failure.error;
    }
}

}  // namespace perdure
