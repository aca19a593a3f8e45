// Fsck, offline: everything that must be true of a data directory nobody else has open (C3).
// One place for each job; attempts that run have their session; who holds a permit runs, or is
// ready and keeps it; who is blocked waits for something taken; counts are exact; no output without
// its job; and SQLite's own check of the file. It reads and changes nothing.
#pragma once

#include <cstdint>
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

// What was looked at, so that nobody takes an empty database for a sound one.
struct FsckReport {
    std::vector<FsckFinding> findings;  // none: all is well
    std::uint64_t jobs = 0;
    std::uint64_t attempts = 0;
    std::uint64_t recoveries = 0;  // entries of the ledger
};

// An error if the database cannot be read at all.
Result<FsckReport> fsck_offline(const DataDirectory& directory, const Timing& timing);

}  // namespace perdure
