// Opening: what every connection is told before its first use, and what a file must be to be ours.
#pragma once

#include "store/sqlite/db/connection.h"

namespace perdure::sqlite {

// Writable, with a write-ahead log that is synced at every commit, and with our newest schema.
// `durable` false: nothing is ever synced.
void prepare_writer(Connection& connection, bool durable);
void prepare_reader(Connection& connection);

// The same for a database with another schema, which the caller makes.
void prepare_log(Connection& connection, bool durable);

}  // namespace perdure::sqlite
