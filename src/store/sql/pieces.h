// Pieces: the output of attempts in a table `piece`, and in `owed` whose is still to be removed. A
// piece begins where the one before it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ports/blobs.h"
#include "store/sql/statement.h"

namespace perdure::store::sql {

class Pieces {
public:
    explicit Pieces(Database& database);

    // Each is one transaction (ports/blobs.h).
    Result<std::vector<std::uint64_t>> append(const std::vector<LogChunk>& chunks);
    Result<void> cut(const std::vector<LogCut>& cuts);
    Result<LogPiece> read(AttemptKey attempt, std::uint64_t offset, std::size_t max);
    // First what is owed, then these; those for which there is no room are owed.
    Result<OutputRemoved> remove(std::vector<JobId> jobs);

private:
    bool read_some(AttemptKey attempt, std::uint64_t offset, std::size_t max, LogPiece& piece);
    std::optional<JobId> next_owed();
    // True: nothing of it is left.
    bool remove(JobId job, std::uint32_t& left);
    std::uint64_t end_of(AttemptKey attempt);
    // The first that has printed something, from this one on.
    std::optional<JobId> next_job(JobId from);

    Database& database_;
    Statement last_, insert_, from_, cut_, next_job_, remove_, owe_, pay_, owed_;
};

}  // namespace perdure::store::sql
