// FileMark: what a database says of itself, so that one that is not whole is never taken for one
// that is new, or old. It stands in the file, not in its log: whoever has the file alone can tell.
//   in_use  commits may be in the log: without that the file is refused, by name
//   closed  all of it is in the file
// A file without a mark, or with one that cannot be understood, counts as closed.
#pragma once

#include <string>

#include "store/sqlite/db/connection.h"

namespace perdure::store::sqlite {

enum class FileMark { closed, in_use };

FileMark mark_of(Connection& connection);
// Committed, and moved into the file.
void put_mark(Connection& connection, FileMark mark);

// What to do about a file in use whose log is not there. Only a person can know that it was moved
// into the file by another program.
enum class LostLog { refuse, accept };

// Before it is opened. corrupt: there is no schema in the file, or its log is missing.
void check_whole(const std::string& path, LostLog lost);
Failure without_schema(const std::string& path);
// Everything is in the file, and it says so. For the only connection that is open.
void close_whole(Connection& connection);

}  // namespace perdure::store::sqlite
