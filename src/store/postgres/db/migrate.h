// Migrate: brings a cell to the schema of this program by numbered files (migrations/*.sql), each
// in one transaction, and remembers them with their checksums. Refused, with a sentence that says
// what to do: a newer schema that does not serve this program any more, a released migration that
// was changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/db/connection.h"

namespace perdure::store::postgres {

struct Migration {
    int number = 0;
    std::string_view name;
    std::string_view sql;
};

// Makes the schema if there is none. Says how many were applied.
int migrate(Connection& connection, const std::vector<Migration>& known);
// The same, but changes nothing: is everything there that this program needs?
void check_schema(Connection& connection, const std::vector<Migration>& known);

std::string checksum(std::string_view sql);

}  // namespace perdure::store::postgres
