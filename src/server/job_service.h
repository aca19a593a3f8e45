// JobService: what people and programs ask for. A 2xx answer to a submit is a promise [P1]: it is
// given only after the commit.
#pragma once

#include "base/log.h"
#include "ports/store.h"
#include "server/dispatcher.h"
#include "server/group_commit.h"

namespace perdure {

class JobService {
public:
    JobService(Store& store, GroupCommit& commits, Dispatcher& dispatcher, Log log)
        : store_(store), commits_(commits), dispatcher_(dispatcher), log_(std::move(log)) {}

    // invalid: check_spec(). conflict: same idempotency key, other body. unavailable: nothing was
    // stored. outcome_unknown: ask again with the same idempotency key.
    Task<Result<Submitted>> submit(JobSpec spec);
    // Durable when answered (E1).
    Task<Result<Cancelled>> cancel(JobId job);
    Task<Result<JobView>> job(JobId id);
    Task<Result<void>> hold(JobId job);
    Task<Result<void>> unhold(JobId job);
    Task<Result<void>> deal_with_quarantined(DealWithQuarantined act);
    Task<Result<void>> define_limit(DefineLimit limit);
    Task<Result<void>> pause(PauseQueue pause);

private:
    Task<Result<void>> apply(Change change);

    Store& store_;
    GroupCommit& commits_;
    Dispatcher& dispatcher_;
    Log log_;
};

}  // namespace perdure
