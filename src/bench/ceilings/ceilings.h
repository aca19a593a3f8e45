// Ceilings: what this machine can do at all, measured in the same run and on the same disk as
// Perdure. Nothing of Perdure's own code takes part.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/samples.h"

namespace perdure::bench {

struct DiskSpeed {
    Spread fdatasync_ms;
    double per_s = 0;
};
// Appends a page and calls fdatasync, one after another.
Result<DiskSpeed> measure_disk(const std::string& folder, std::size_t count);

struct StoreCeiling {
    double per_s = 0;
    // The same writes by somebody who is told which rows to claim. No queue is.
    double blind_per_s = 0;
};
// The least that any durable queue must do with SQLite: one table; for each job one insert, one
// update that claims it and one that finishes it; a transaction for each batch of each. A claim
// takes the first ones that wait, by an index over those, and reads what they are.
Result<StoreCeiling> measure_raw_lives(const std::string& folder, std::size_t jobs);
// Claim and finish alone, over a backlog.
Result<StoreCeiling> measure_raw_drain(const std::string& folder, std::size_t jobs);

// One transaction after another, each of `rows` inserts, synced. Transactions a second.
Result<double> measure_raw_commits(const std::string& folder, std::size_t commits,
                                   std::size_t rows);
// All rows of all tables of a database that somebody else may be writing.
Result<std::size_t> count_rows(const std::string& database);

// An HTTP server of nothing but Beast that answers 201 to everything, from a thread of this
// process. Requests a second over `connections` connections.
Result<double> measure_bare_http(std::size_t requests, std::size_t connections);

struct ShimCeiling {
    double one_by_one_per_s = 0;
    double at_once_per_s = 0;
};
// perdure-bare-shim again and again: alone, and `slots` of them at the same time.
Result<ShimCeiling> measure_bare_shims(const std::string& folder, std::size_t runs,
                                       std::size_t slots);

}  // namespace perdure::bench
