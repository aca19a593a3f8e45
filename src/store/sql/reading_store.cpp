#include "store/sql/reading_store.h"

#include <utility>

namespace perdure::store::sql {

Task<Result<ServiceView>> ReadingStore::service() {
    return facts().ask({}, [](auto& r) -> Result<ServiceView> { return r.views.service(); });
}

Task<Result<SessionView>> ReadingStore::session(SessionId session, JobId runs_behind) {
    return facts().ask({}, [=](auto& r) -> Result<SessionView> {
        auto view = r.views.session(session, runs_behind);
        if (!view) return error(Errc::not_found, "there is no such session");
        return std::move(*view);
    });
}

Task<Result<std::optional<SessionId>>> ReadingStore::latest_session(StateDirectory directory) {
    auto call = [directory = std::move(directory)](auto& r) -> Result<std::optional<SessionId>> {
        return r.views.latest_session(directory);
    };
    return facts().ask({}, std::move(call));
}

Task<Result<OverdueView>> ReadingStore::overdue(WallTime wall, std::uint32_t limit) {
    return facts().ask(
        {}, [=](auto& r) -> Result<OverdueView> { return r.views.overdue(wall, limit); });
}

Task<Result<OwnerView>> ReadingStore::owner(SessionId session) {
    return facts().ask({}, [=](auto& r) -> Result<OwnerView> {
        auto view = r.views.owner(session);
        if (!view) return error(Errc::not_found, "there is no such session");
        return std::move(*view);
    });
}

Task<Result<std::vector<JobView>>> ReadingStore::jobs(std::vector<JobId> ids,
                                                      AttemptWindow attempts) {
    auto call = [ids = std::move(ids), attempts](auto& r) -> Result<std::vector<JobView>> {
        return r.views.jobs(ids, attempts);
    };
    return facts().ask({}, std::move(call));
}

Task<Result<std::optional<JobId>>> ReadingStore::job_of_key(std::string tenant,
                                                            std::string idempotency_key) {
    auto call = [tenant = std::move(tenant),
                 key = std::move(idempotency_key)](auto& r) -> Result<std::optional<JobId>> {
        return r.views.job_of_key(tenant, key);
    };
    return facts().ask({}, std::move(call));
}

Task<Result<AuditView>> ReadingStore::audit(AuditPlace after, std::uint32_t limit) {
    return people().ask({}, [after = std::move(after), limit](auto& r) -> Result<AuditView> {
        return r.views.audit(after, limit);
    });
}

Task<Result<JobShown>> ReadingStore::job(JobQuery query, ReadTerms terms) {
    return people().ask(std::move(terms), [query](auto& r) -> Result<JobShown> {
        auto shown = r.job(query);
        if (!shown) return error(Errc::not_found, "there is no job " + query.job.text());
        return std::move(*shown);
    });
}

Task<Result<RecoveryPage>> ReadingStore::recoveries(RecoveryFilter filter, ReadTerms terms) {
    return people().ask(std::move(terms),
                        [filter = std::move(filter)](auto& r) -> Result<RecoveryPage> {
                            return r.ledger.recoveries(filter);
                        });
}

Task<Result<JobPage>> ReadingStore::list(JobFilter filter, ReadTerms terms) {
    return people().ask(std::move(terms), [filter = std::move(filter)](auto& r) -> Result<JobPage> {
        return r.catalogue.list(filter);
    });
}

Task<Result<QueuePiece>> ReadingStore::queues(std::string tenant, QueuePlace after,
                                              ReadTerms terms) {
    auto call = [tenant = std::move(tenant), after = std::move(after)](
                    auto& r) -> Result<QueuePiece> { return r.catalogue.queues(tenant, after); };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<LimitPiece>> ReadingStore::limits(std::string tenant, LimitPlace from,
                                              ReadTerms terms) {
    auto call = [tenant = std::move(tenant), from = std::move(from)](
                    auto& r) -> Result<LimitPiece> { return r.catalogue.limits(tenant, from); };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<RunPiece>> ReadingStore::running(JobId after, ReadTerms terms) {
    return people().ask(std::move(terms), [after](auto& r) -> Result<RunPiece> {
        return r.catalogue.running(after);
    });
}

Task<Result<WorkerPiece>> ReadingStore::workers(WorkerQuery query, ReadTerms terms) {
    return people().ask(std::move(terms),
                        [query = std::move(query)](auto& r) -> Result<WorkerPiece> {
                            return r.catalogue.workers(query);
                        });
}

Task<Result<std::vector<OwnerView>>> ReadingStore::owners(std::vector<SessionId> sessions,
                                                          ReadTerms terms) {
    auto call = [sessions = std::move(sessions)](auto& r) -> Result<std::vector<OwnerView>> {
        return r.views.owners(sessions);
    };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<std::vector<JobId>>> ReadingStore::holders(Permit permit, std::uint32_t max,
                                                       ReadTerms terms) {
    auto call = [permit = std::move(permit), max](auto& r) -> Result<std::vector<JobId>> {
        return r.catalogue.holders(permit, max);
    };
    return people().ask(std::move(terms), std::move(call));
}

}  // namespace perdure::store::sql
