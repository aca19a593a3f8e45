// Origin: where a database comes from, if it is not simply the one that its server made.
//   backup  a copy that is only to be restored: no server opens it
//   copy    restored to be looked at: a server shows it, and nothing in it runs or changes,
//           because the jobs in it may still be those of another, living instance (C6)
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "store/sqlite/db/connection.h"

namespace perdure::store::sqlite {

struct Origin {
    enum class Kind { backup, copy } kind = Kind::backup;
    WallTime taken_on;
    std::string directory;  // that it was taken from
};

std::optional<Origin> origin_of(Connection& connection);
// If it is a copy: of what, for people.
std::optional<std::string> copied_from(Connection& connection);
// conflict: it is a backup.
void refuse_backup(Connection& connection);
// Empty: it is the instance itself from now on.
void put_origin(Connection& connection, const std::optional<Origin>& origin);

}  // namespace perdure::store::sqlite
