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

namespace perdure::sqlite {

struct Migration {
    int number = 0;
    std::string_view name;
    std::string_view sql;
};

// All that this program knows, in order; made from the files at build time.
const std::vector<Migration>& migrations();

// "Pdur" in the header of the file: what tools show as the application's id.
inline constexpr std::int32_t application_id = 0x50647572;

// Of the file as it is; 0 if it is empty. Fails if it is not ours.
int schema_version(Connection& connection);
// Applies what is missing and says how many there were.
int migrate(Connection& connection, const std::vector<Migration>& known);

std::string checksum(std::string_view sql);

}  // namespace perdure::sqlite
