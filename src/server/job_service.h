// JobService: what people and programs ask for. A 2xx answer to a submit is a promise [P1]: it is
// given only after the commit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "core/job/submit.h"
#include "core/policy/policy_book.h"
#include "ports/clock.h"
#include "ports/store.h"
#include "server/dispatcher.h"
#include "server/group_commit.h"
#include "server/recovery/old_process.h"
#include "wire/job_json.h"

namespace perdure {

// The one of many jobs for which none of them was taken.
struct RefusedJob {
    std::size_t index = 0;
    Error why;
    std::optional<std::string> field = {};  // what find_fault() says; empty: the store refused it
};
using SubmittedAll = std::variant<std::vector<Submitted>, RefusedJob>;

class JobService {
public:
    JobService(Store& store, Clock& clock, GroupCommit& commits, Dispatcher& dispatcher,
               Timing timing, Log log)
        : store_(store),
          commits_(commits),
          dispatcher_(dispatcher),
          old_processes_(store, clock, dispatcher, timing),
          log_(std::move(log)) {}

    // The policies that this server knows by name; from Server::use().
    void use(std::shared_ptr<const PolicyBook> book) { book_ = std::move(book); }
    const PolicyBook& book() const { return *book_; }
    // What is wrong with a request, as far as this server can tell without its store.
    std::optional<SpecFault> find_fault(const JobRequest& request) const;

    // invalid: find_fault(). conflict: same idempotency key, other body. unavailable: nothing was
    // stored. outcome_unknown: ask again with the same idempotency key.
    Task<Result<Submitted>> submit(JobSpec spec);
    // The same for a job that may have a delay, which counts from `now`.
    Task<Result<Submitted>> submit(JobRequest request, WallTime now,
                                   std::optional<ByAttempt> by = {});
    // All or nothing, in one transaction.
    Task<Result<SubmittedAll>> submit_all(std::vector<JobRequest> requests, WallTime now,
                                          std::optional<ByAttempt> by = {});
    // Durable when answered: a callback of a job that has ended, or will (P7).
    Task<Result<CallbackAdded>> add_callback(JobId job, Callback callback);
    // Durable when answered (E1).
    Task<Result<Cancelled>> cancel(Cancel change);
    // With its newest attempt alone.
    Task<Result<JobView>> job(JobId id);
    Task<Result<void>> hold(Hold change);
    // A process that may still run is stopped if it can be reached (E2): before a release, which
    // waits for its end, and after a discard. conflict: it may live where nobody hears us.
    Task<Result<void>> deal_with_quarantined(DealWithQuarantined act);
    Task<Result<void>> define_limit(DefineLimit limit);
    Task<Result<void>> pause(PauseQueue pause);
    Task<Result<AuditView>> audit(AuditPlace after, std::uint32_t limit) {
        return store_.audit(std::move(after), limit);
    }
    // The newest service time that this server has seen.
    const ServiceTick& clock() const { return commits_.seen().clock; }
    // Tells the session's worker to drain, if its stream ends here.
    bool order_drain(SessionId session) { return dispatcher_.send(session, DrainOrder{}); }

private:
    Task<Result<void>> apply(Change change);
    Task<Result<void>> make_sure_it_is_dead(OldProcess old, bool may_still_run);
    Submit change_of(JobRequest request, WallTime now, const std::vector<Submit>& earlier);

    Store& store_;
    GroupCommit& commits_;
    Dispatcher& dispatcher_;
    OldProcesses old_processes_;
    std::shared_ptr<const PolicyBook> book_ = std::make_shared<const PolicyBook>();
    Log log_;
};

}  // namespace perdure
