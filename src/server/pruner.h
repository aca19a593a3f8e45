// Pruner: removes jobs whose retention is over, in small batches, with what they printed. One of
// the keeper's duties. Should it die between the two, offline fsck names the output without a job.
#pragma once

#include <memory>

#include "base/log.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "server/group_commit.h"
#include "server/ticker.h"

namespace perdure {

class Pruner {
public:
    Pruner(Clock& clock, GroupCommit& commits, const Ticker& ticker, Blobs* blobs, Log log);

    Task<void> run(Stop& stop);

private:
    // Whether there may be more to remove.
    Task<bool> prune_once();

    GroupCommit& commits_;
    const Ticker& ticker_;
    Blobs* blobs_;  // empty: jobs print nothing here
    Log log_;
    std::unique_ptr<Alarm> alarm_;
    bool output_is_left_ = true;  // an earlier life may have owed some
};

}  // namespace perdure
