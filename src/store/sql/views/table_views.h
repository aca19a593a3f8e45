// TableViews: the views of ports/views.h, made from the rows of one connection. Each method is one
// consistent snapshot, a transaction of its own unless one is open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ownership/timing.h"
#include "ports/views.h"
#include "store/engine/overdue.h"
#include "store/sql/tables/load.h"
#include "store/sql/tables/load_relations.h"

namespace perdure::store::sql {

class TableViews : private OverdueReader {
public:
    TableViews(Database& database, const Timing& timing, DamageBook& book);

    ServiceView service();
    std::optional<SessionView> session(SessionId id, JobId runs_behind);
    std::optional<SessionId> latest_session(const StateDirectory& directory);
    OverdueView overdue(WallTime wall, std::uint32_t limit);
    std::optional<OwnerView> owner(SessionId id);
    // Those that exist and can be understood.
    std::vector<OwnerView> owners(const std::vector<SessionId>& ids);
    std::vector<JobView> jobs(const std::vector<JobId>& ids, AttemptWindow attempts);
    // Empty if there is none; a Failure if it cannot be understood.
    std::optional<JobView> job(JobId id, AttemptWindow attempts);
    std::optional<JobId> job_of_key(const std::string& tenant, const std::string& key);
    AuditView audit(const AuditPlace& after, std::uint32_t limit);

private:
    using WorkerPolicy = std::shared_ptr<const PolicyChoice>;

    JobRow job_that_exists(JobId id);
    std::optional<SessionRow> readable_session(SessionId id);
    std::optional<RunView> readable_run(JobId id, const WorkerPolicy& worker_policy);
    WorkerPolicy worker_policy_of(const JobRow& running);
    RunView run_view(JobRow& job, WorkerPolicy worker_policy);
    JobView job_view(JobRow& job, AttemptWindow attempts);
    void add_runs(const SessionRow& session, JobId behind, SessionView& view);
    void add_audited(JobId id, AuditView& view);
    // False: there are more, and it is said where.
    bool add_holders(const std::optional<HolderView>& after, AuditView& view);
    bool add_holders(Statement& statement, std::initializer_list<Value> after, Permit::Kind kind,
                     AuditView& view);
    void add_jobs(JobId after, std::uint32_t limit, AuditView& view);
    void add_debts(AuditView& view);

    // overdue.cpp
    std::vector<Wake> wakes(ServiceTime now, std::uint32_t max) override;
    void add_ready_wakes(ServiceTime now, std::uint32_t max, std::vector<Wake>& wakes);
    std::vector<JobId> dates(WallTime wall, std::uint32_t max) override;
    std::optional<Permit> blocked_permit(const std::optional<Permit>& behind) override;
    std::optional<ShapeId> blocked_shape(const Permit& permit, ShapeId behind) override;
    std::uint32_t free_of(const Permit& permit) override;
    std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) override;
    bool is_anything_due(const ServiceRow& row);

    Database& database_;
    Timing timing_;
    DamageBook& book_;
    Loader load_;
    RelationLoader relations_;
    OverdueViews overdue_;

    Statement busy_, highest_mark_;
    Statement runs_;
    Statement timer_wakes_, blocked_wakes_, wait_wakes_, run_wakes_, ready_wakes_, ready_at_,
        dates_;
    Statement next_permit_, limit_max_, keys_held_, limits_held_, blocked_shapes_, wanting_;
    Statement audit_, keys_, limits_;
};

}  // namespace perdure::store::sql
