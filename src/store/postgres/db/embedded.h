// The migrations as they were embedded at build time (cmake/embed_sql.cmake).
#pragma once

#include <vector>

#include "store/postgres/db/migrate.h"

namespace perdure::store::postgres {

const std::vector<Migration>& migrations();  // migrations/*.sql

}  // namespace perdure::store::postgres
