// Restore: a data directory from a backup.
//   C6  The jobs in a backup are those of an instance that may live, and has gone on since. So a
//       restored directory is a copy to look at, in which nothing runs or changes. If a person says
//       that the other one is gone it takes its place: what must not run twice and may have run
//       since is held until a person lets it go [P4].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/ownership/timing.h"

namespace perdure {

enum class RestoreAs { copy, take_over };

struct RestoreOrder {
    std::string backup;  // the folder
    std::string data;    // the directory to be made; must be empty or not there
    RestoreAs as = RestoreAs::copy;
};

struct Restored {
    std::uint64_t jobs = 0;
    std::uint64_t not_ended = 0;
    WallTime taken_on;
    std::string directory;                   // that the backup was taken from
    std::uint64_t held = 0;                  // take_over: jobs that a person must let go
    std::vector<std::string> paused_queues;  // take_over: in which such a job was running
};

// not_found: there is no backup. corrupt: it is damaged. conflict: it has a newer schema, is no
// backup, or the directory is not empty or in use.
Result<Restored> restore(const RestoreOrder& order, const Timing& timing);

}  // namespace perdure
