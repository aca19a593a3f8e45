// Opening: what every connection is told before its first use, and what a file must be to be ours.
#pragma once

#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/file_mark.h"
#include "store/sqlite/db/migrate.h"

namespace perdure::store::sqlite {

// Who syncs the write-ahead log: every commit, LogSync after the commit, or nobody.
enum class Durability { at_commit, after_commit, none };

// The path of a file that is there. One that is missing is made under another name first, so that a
// file of this name always has its schema. corrupt: there is only its log, or it is not whole.
const std::string& made(const std::string& path, const Schema& schema,
                        LostLog lost = LostLog::refuse);

// Writable, with a write-ahead log and our newest schema, and marked as in use. Whoever is done
// with it calls close_whole().
void prepare_writer(Connection& connection, const Schema& schema, Durability durability);
void prepare_reader(Connection& connection);

}  // namespace perdure::store::sqlite
