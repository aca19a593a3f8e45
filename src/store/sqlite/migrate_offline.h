// Migrating a data directory that nobody else has open.
#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/db/file_mark.h"

namespace perdure {

using store::sqlite::LostLog;

// Brings both files to the schema of this program, and says in a sentence what was done.
Result<std::string> migrate_offline(const DataDirectory& directory, LostLog lost);

}  // namespace perdure
