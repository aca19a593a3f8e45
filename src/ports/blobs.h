// Blobs: what jobs print, kept apart from the hot database. One growing text for each attempt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/job/job.h"
#include "ports/task.h"
#include "wire/worker_protocol.h"

namespace perdure {

struct LogPiece {
    std::string bytes;
    std::uint64_t end = 0;  // how much of this attempt's output there is by now
};

// Only so much of an attempt's output stays.
struct LogCut {
    AttemptKey attempt;
    std::uint64_t end = 0;
};

struct OutputRemoved {
    bool unfinished = false;  // some is left: call again, if only with no jobs
};

class Blobs {
public:
    virtual ~Blobs() = default;

    // One transaction, durable when answered: how long the text of each chunk's attempt was before
    // it. What is there already is left as it is; a gap (an offset beyond the end) is a conflict.
    // corrupt: what is there of one of them cannot be understood. After every error: nothing was
    // written.
    virtual Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk> chunks) = 0;
    // Takes back what was appended. One transaction.
    virtual Task<Result<void>> cut(std::vector<LogCut> cuts) = 0;
    // At most `max` bytes from `offset` on; empty beyond the end or if nothing was ever printed.
    virtual Task<Result<LogPiece>> read(AttemptKey attempt, std::uint64_t offset,
                                        std::size_t max) = 0;
    // Retention: all output of these jobs, a piece at a time (C8). What one call cannot finish is
    // durably owed, and the next one goes on with it.
    virtual Task<Result<OutputRemoved>> remove(std::vector<JobId> jobs) = 0;
};

}  // namespace perdure
