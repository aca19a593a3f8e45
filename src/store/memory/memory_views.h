// MemoryViews: what ports/views.h and ports/catalogue.h show, made from the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "ports/views.h"
#include "store/engine/overdue.h"
#include "store/memory/memory_tables.h"

namespace perdure::store::memory {

class MemoryViews : private OverdueReader {
public:
    MemoryViews(MemoryTables& tables, const Timing& timing)
        : tables_(tables), rows_(tables.rows), timing_(timing) {}

    ServiceView service() const;
    std::optional<SessionView> session(SessionId id, JobId runs_behind);
    std::optional<SessionId> latest_session(const StateDirectory& directory) const;
    OverdueView overdue(WallTime wall, std::uint32_t limit);
    std::optional<OwnerView> owner(SessionId id) const;
    std::vector<JobView> jobs(const std::vector<JobId>& ids, AttemptWindow attempts);
    AuditView audit(const AuditPlace& after, std::uint32_t limit);

    // catalogue.cpp
    std::optional<JobShown> job(const JobQuery& query);
    JobPage list(const JobFilter& filter) const;
    RecoveryPage recoveries(const RecoveryFilter& filter);
    QueuePiece queues(const std::string& tenant, const QueuePlace& after) const;
    LimitPiece limits(const std::string& tenant, const LimitPlace& from) const;
    RunPiece running(JobId after) const;
    WorkerPiece workers(const WorkerQuery& query) const;
    std::vector<JobId> holders(const Permit& permit, std::uint32_t max) const;

private:
    ServiceTime now() const { return rows_.service.clock.now; }
    RunView run_view(JobRow& job);
    JobView job_view(JobRow& job, AttemptWindow attempts);
    void add_relations(const JobRow& job, JobView& view);

    std::vector<Wake> wakes(ServiceTime now, std::uint32_t max) override;
    std::vector<JobId> dates(WallTime wall, std::uint32_t max) override;
    std::optional<Permit> blocked_permit(const std::optional<Permit>& behind) override;
    std::optional<ShapeId> blocked_shape(const Permit& permit, ShapeId behind) override;
    std::uint32_t free_of(const Permit& permit) override;
    std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) override;

    std::optional<std::string> worker_of(SessionId session) const;

    MemoryTables& tables_;
    Rows& rows_;
    Timing timing_;
    OverdueViews overdue_;
};

}  // namespace perdure::store::memory
