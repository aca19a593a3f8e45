// Views: what ports/views.h and ports/catalogue.h show, made from the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "ports/views.h"
#include "store/memory/memory_tables.h"

namespace perdure::store::memory {

class Views {
public:
    Views(MemoryTables& tables, const Timing& timing)
        : tables_(tables), rows_(tables.rows), timing_(timing) {}

    ServiceView service() const;
    std::optional<SessionView> session(SessionId id);
    std::optional<SessionView> opening(const StateDirectory& directory);
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
    std::vector<JobId> holders(const Thing& thing, std::uint32_t max) const;

private:
    ServiceTime now() const { return rows_.service.clock.now; }
    RunView run_view(JobRow& job);
    JobView job_view(JobRow& job, AttemptWindow attempts);
    void add_relations(const JobRow& job, JobView& view);
    void add_waiting(WallTime wall, std::uint32_t limit, OverdueView& view) const;
    std::uint32_t free_of(const Thing& thing) const;
    bool is_overlooked(const Thing& thing) const;
    std::optional<std::string> worker_of(SessionId session) const;

    MemoryTables& tables_;
    Rows& rows_;
    Timing timing_;
};

}  // namespace perdure::store::memory
