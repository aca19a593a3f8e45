// Row: one failure of the drill, as data: what happens, how long it took in the system that the
// requirements come from, how long it may take here, and the function that makes it happen once,
// watches and measures. A run that ends otherwise than it should is an error, however fast it was.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "drill/world/site.h"
#include "drill/world/witness.h"

namespace perdure::drill {

// Where a row is played. Lanes run side by side, each on a site of its own.
enum class Lane {
    jobs,       // `perdure up`: what happens to single jobs
    policies,   // the same, for what policies say
    restarts,   // our own processes die: a fresh site for each run
    backlog,    // a server with many waiting jobs
    losses,     // a fleet: workers and hosts are lost
    partings,   // another one
    weary,      // the job that is interrupted ten times
    faults,     // a fleet whose workers have fault points armed
    conflicts,  // a store in trouble: a fresh site for each run
    outages,    // servers away for a minute: a site for each run
    disks,      // a site on a disk of its own
};
inline constexpr std::size_t lane_count = 11;

struct Run {
    Site* site = nullptr;  // null: the row makes its own in `folder`
    std::string folder;
    std::string name;  // of the row with the run's number; nobody else has it
    const Witness& witness;
};

struct Row {
    std::string_view name;       // for --only
    std::string_view failure;    // for the table, a few words
    std::string_view sentence;   // for those who want to know
    std::string_view old = "–";  // as the old system's authors put it
    std::optional<double> old_s = std::nullopt;
    double bound_s = 0;
    Lane lane = Lane::jobs;
    bool together = false;  // all its runs at once
    Result<double> (*run)(const Run&) = nullptr;
    bool quick = false;  // one of those that `--quick` plays
};

const std::vector<Row>& rows();

}  // namespace perdure::drill
