// What people read: each a call on a thread of its own (show/people_reads.h).
#include <utility>

#include "store/sqlite/show/people_reads.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {

Task<Result<AuditView>> SqliteStore::audit(AuditPlace after, std::uint32_t limit) {
    return people().ask({}, [after = std::move(after), limit](auto& r) -> Result<AuditView> {
        return r.show.audit(after, limit);
    });
}

Task<Result<JobShown>> SqliteStore::job(JobQuery query, ReadTerms terms) {
    return people().ask(std::move(terms), [query](auto& r) -> Result<JobShown> {
        auto shown = r.job(query);
        if (!shown) return error(Errc::not_found, "there is no job " + query.job.text());
        return std::move(*shown);
    });
}

Task<Result<RecoveryPage>> SqliteStore::recoveries(RecoveryFilter filter, ReadTerms terms) {
    return people().ask(std::move(terms),
                        [filter = std::move(filter)](auto& r) -> Result<RecoveryPage> {
                            return r.ledger.recoveries(filter);
                        });
}

Task<Result<JobPage>> SqliteStore::list(JobFilter filter, ReadTerms terms) {
    return people().ask(std::move(terms), [filter = std::move(filter)](auto& r) -> Result<JobPage> {
        return r.catalogue.list(filter);
    });
}

Task<Result<QueuePiece>> SqliteStore::queues(std::string tenant, QueuePlace after,
                                             ReadTerms terms) {
    auto call = [tenant = std::move(tenant), after = std::move(after)](
                    auto& r) -> Result<QueuePiece> { return r.catalogue.queues(tenant, after); };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<LimitPiece>> SqliteStore::limits(std::string tenant, LimitPlace from, ReadTerms terms) {
    auto call = [tenant = std::move(tenant), from = std::move(from)](
                    auto& r) -> Result<LimitPiece> { return r.catalogue.limits(tenant, from); };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<RunPiece>> SqliteStore::running(JobId after, ReadTerms terms) {
    return people().ask(std::move(terms), [after](auto& r) -> Result<RunPiece> {
        return r.catalogue.running(after);
    });
}

Task<Result<WorkerPiece>> SqliteStore::workers(WorkerQuery query, ReadTerms terms) {
    return people().ask(std::move(terms),
                        [query = std::move(query)](auto& r) -> Result<WorkerPiece> {
                            return r.catalogue.workers(query);
                        });
}

Task<Result<std::vector<OwnerView>>> SqliteStore::owners(std::vector<SessionId> sessions,
                                                         ReadTerms terms) {
    auto call = [sessions = std::move(sessions)](auto& r) -> Result<std::vector<OwnerView>> {
        return r.show.owners(sessions);
    };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<std::vector<JobId>>> SqliteStore::holders(Thing thing, std::uint32_t max,
                                                      ReadTerms terms) {
    auto call = [thing = std::move(thing), max](auto& r) -> Result<std::vector<JobId>> {
        return r.catalogue.holders(thing, max);
    };
    return people().ask(std::move(terms), std::move(call));
}

Task<Result<DamagePage>> SqliteStore::damaged(std::string from) {
    return people().ask({}, [from = std::move(from)](auto& r) -> Result<DamagePage> {
        return r.damage.page(from);
    });
}

}  // namespace perdure
