// What the engine has in memory from its start on, but for service time and servers, which each
// kind of database keeps in its own way.
#pragma once

#include "store/engine/tables.h"
#include "store/sql/tables/load.h"

namespace perdure::store::sql {

void read_contents(Database& database, Loader& load, DamageBook& book, Contents& contents);

}  // namespace perdure::store::sql
