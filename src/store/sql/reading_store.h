// ReadingStore: what every store of rows answers alike: facts for servers, and what people look at.
// Each is a call on a thread of its own (show/reads.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ports/catalogue.h"
#include "ports/store.h"
#include "store/sql/views/reads.h"

namespace perdure::store::sql {

class ReadingStore : public Store, public Catalogue {
public:
    Task<Result<ServiceView>> service() override;
    Task<Result<SessionView>> session(SessionId session, JobId runs_behind = {}) override;
    Task<Result<std::optional<SessionId>>> latest_session(StateDirectory directory) override;
    Task<Result<OverdueView>> overdue(WallTime wall, std::uint32_t limit) override;
    Task<Result<OwnerView>> owner(SessionId session) override;
    Task<Result<std::vector<JobView>>> jobs(std::vector<JobId> ids,
                                            AttemptWindow attempts = {}) override;
    Task<Result<std::optional<JobId>>> job_of_key(std::string tenant,
                                                  std::string idempotency_key) override;
    Task<Result<AuditView>> audit(AuditPlace after, std::uint32_t limit) override;

    Task<Result<JobShown>> job(JobQuery query, ReadTerms terms = {}) override;
    Task<Result<RecoveryPage>> recoveries(RecoveryFilter filter, ReadTerms terms = {}) override;
    Task<Result<JobPage>> list(JobFilter filter, ReadTerms terms = {}) override;
    Task<Result<QueuePiece>> queues(std::string tenant, QueuePlace after,
                                    ReadTerms terms = {}) override;
    Task<Result<LimitPiece>> limits(std::string tenant, LimitPlace from,
                                    ReadTerms terms = {}) override;
    Task<Result<RunPiece>> running(JobId after, ReadTerms terms = {}) override;
    Task<Result<WorkerPiece>> workers(WorkerQuery query, ReadTerms terms = {}) override;
    Task<Result<std::vector<OwnerView>>> owners(std::vector<SessionId> sessions,
                                                ReadTerms terms = {}) override;
    Task<Result<std::vector<JobId>>> holders(Permit permit, std::uint32_t max,
                                             ReadTerms terms = {}) override;

protected:
    // What workers and sweeps wait for must not wait behind what people read (C8).
    virtual Reads& facts() = 0;
    virtual Reads& people() = 0;
};

}  // namespace perdure::store::sql
