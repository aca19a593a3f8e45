// Opening: what every connection is told before its first use, and what a file must be to be ours.
#pragma once

#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/migrate.h"

namespace perdure::sqlite {

enum class Durability { synced, none };

// Writable, with a write-ahead log that is synced at every commit, and with our newest schema.
void prepare_writer(Connection& connection, const Schema& schema, Durability durability);
void prepare_reader(Connection& connection);

}  // namespace perdure::sqlite
