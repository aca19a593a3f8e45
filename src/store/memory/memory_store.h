// MemoryStore: the engine on tables in memory. Deterministic and fast: the simulator runs it
// millions of times, and so the very transaction logic that ships. Its methods complete without
// suspending. What it holds is as durable as the object itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "ports/store.h"

namespace perdure {

namespace store::memory {
struct Rows;
}

class MemoryStore : public Store, public Catalogue, public EmbeddedStore {
public:
    explicit MemoryStore(Timing timing, QueueWeights weights = {});
    ~MemoryStore() override;
    MemoryStore(const MemoryStore&) = delete;
    MemoryStore& operator=(const MemoryStore&) = delete;

    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override;
    Task<Result<GroupReply>> commit(Group group) override;
    Task<Result<LastGroup>> resolve_unknown(ServerId server, std::uint64_t fence) override;

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

    // How many rows groups have read or written: what a change costs, whatever the machine.
    std::uint64_t rows_touched() const;
    // How often they have asked for rows, or for lines: each is a round trip, elsewhere.
    std::uint64_t loads() const;
    // As if there were a way to go to the rows: no job is kept in memory, so that each group has to
    // load its own, and leaves what it can to the next one after so many loads.
    void be_far_away(std::uint32_t loads_max);
    // For stories of stores that lose commits: all that is in it, and back to that.
    std::shared_ptr<const store::memory::Rows> snapshot() const;
    void roll_back(const store::memory::Rows& to);
    // The engine forgets what it knows and begins with the rows alone, as after a restart.
    void restart();
    // The same, and what stayed in memory is lost (T4).
    void crash() override;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
