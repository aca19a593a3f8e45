// Migrate: brings a database to the schema of this program by numbered files (migrations/*.sql),
// each in one transaction, and remembers them with their checksums. Refused, with a sentence that
// says what to do: a file of another program, a newer schema, a released migration that was
// changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite/db/connection.h"

namespace perdure::store::sqlite {

struct Migration {
    int number = 0;
    std::string_view name;
    std::string_view sql;
};

// What a file must be: its application id, which is in its header for tools to show, and all the
// migrations that this program knows, in order. Made from the files at build time.
struct Schema {
    std::int32_t application_id = 0;
    const std::vector<Migration>& migrations;
};
Schema store_schema();  // "Pdur"
Schema log_schema();    // "Plog"

// Of the file as it is; 0 if it is empty. Fails if it is not ours.
int schema_version(Connection& connection, const Schema& schema);
// Applies what is missing and says how many there were.
int migrate(Connection& connection, const Schema& schema);

std::string checksum(std::string_view sql);

}  // namespace perdure::store::sqlite
