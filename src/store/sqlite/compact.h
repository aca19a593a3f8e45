// Compact: gives back what retention has left free in the files. Offline: each database is copied
// without its free pages, and the copy takes its place. Made to grow and shrink while the server
// works, a database would have to keep a map of all its pages, which costs every commit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/data_directory.h"

namespace perdure {

struct CompactedFile {
    std::string name;
    std::uint64_t before = 0;  // bytes, with its log
    std::uint64_t after = 0;
};

// So far, of about so many.
using CompactProgress = std::function<void(std::uint64_t bytes, std::uint64_t total)>;

// Of a directory that nobody else has open. Killed at any moment, it leaves each database as it was
// or compacted. unavailable: there is no room for the copy; nothing was changed. corrupt: the copy
// does not have what the original has: that stays.
Result<std::vector<CompactedFile>> compact_offline(const DataDirectory& directory,
                                                   const CompactProgress& progress);

}  // namespace perdure
