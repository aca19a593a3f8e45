// Opening: what every connection is told before its first use, and what a file must be to be ours.
#pragma once

#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/migrate.h"

namespace perdure::store::sqlite {

// Who syncs the write-ahead log: every commit, LogSync after the commit, or nobody.
enum class Durability { at_commit, after_commit, none };

// Writable, with a write-ahead log and our newest schema.
void prepare_writer(Connection& connection, const Schema& schema, Durability durability);
void prepare_reader(Connection& connection);

}  // namespace perdure::store::sqlite
