// The migrations as they were embedded at build time (cmake/embed_sql.cmake).
#pragma once

#include <vector>

#include "store/sqlite/db/migrate.h"

namespace perdure::store::sqlite {

const std::vector<Migration>& migrations();      // migrations/*.sql
const std::vector<Migration>& log_migrations();  // log_migrations/*.sql

}  // namespace perdure::store::sqlite
