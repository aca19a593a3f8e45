// Fsck, offline: everything that must be true of a data directory nobody else has open (C3).
// One place for each job; attempts that run have their session; who holds a thing runs, or is ready
// and keeps it; who is blocked waits for something taken; counts are exact; no output without its
// job; and SQLite's own check of the file. It reads and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/ownership/timing.h"
#include "store/sqlite/data_directory.h"

namespace perdure {

struct FsckFinding {
    std::string what;
    std::string job;  // its id as text; empty: no single one
    std::string fix;
};

// An error if the database cannot be read at all; an empty list if all is well.
Result<std::vector<FsckFinding>> fsck_offline(const DataDirectory& directory, const Timing& timing);

// Brings both files to the schema of this program, and says in a sentence what was done.
Result<std::string> migrate_offline(const DataDirectory& directory);

}  // namespace perdure
