#include "store/memory/memory_store.h"

#include <utility>

#include "base/assert.h"
#include "base/probe.h"
#include "store/engine/apply/apply.h"
#include "store/engine/state/state.h"
#include "store/memory/memory_tables.h"
#include "store/memory/memory_views.h"

namespace perdure {

// Nothing here can be damaged: a Failure would be a bug of ours, which nobody catches.
struct MemoryStore::Parts {
    Parts(const Timing& t, QueueWeights w) : timing(t), weights(std::move(w)), views(tables, t) {
        load_state();
    }

    void load_state() { state.emplace(tables, timing, weights, book); }

    Timing timing;
    QueueWeights weights;
    store::DamageBook book;
    store::memory::MemoryTables tables;
    store::memory::MemoryViews views;
    std::optional<store::State> state;
    bool is_far_away = false;
};

MemoryStore::MemoryStore(Timing timing, QueueWeights weights)
    : parts_(std::make_unique<Parts>(timing, std::move(weights))) {}
MemoryStore::~MemoryStore() = default;

std::uint64_t MemoryStore::rows_touched() const { return parts_->tables.touched; }
std::uint64_t MemoryStore::loads() const { return parts_->tables.loads; }

void MemoryStore::be_far_away(std::uint32_t loads_max) {
    parts_->is_far_away = true;
    parts_->tables.most_loads = loads_max;
}

std::shared_ptr<const store::memory::Rows> MemoryStore::snapshot() const {
    return std::make_shared<const store::memory::Rows>(parts_->tables.rows);
}

void MemoryStore::roll_back(const store::memory::Rows& to) {
    parts_->tables.rows = to;
    parts_->load_state();
}

void MemoryStore::crash() {
    if (parts_->state->unwritten_since) reached<"unwritten_ticks_lost">();
    parts_->load_state();
    parts_->state->await_heartbeats();
}

void MemoryStore::restart() {
    store::write_unwritten(*parts_->state);
    parts_->load_state();
    PERDURE_ASSERT(parts_->book.counts().empty());
}

Task<Result<ServerOpened>> MemoryStore::open_server(ServerId server, WallTime wall) {
    co_return store::open_server(*parts_->state, server, wall);
}

Task<Result<GroupReply>> MemoryStore::commit(Group group) {
    store::GivenUp given_up;
    auto reply = store::commit(*parts_->state, group, given_up);
    if (parts_->is_far_away) parts_->state->forget_jobs();
    co_return reply;
}

Task<Result<LastGroup>> MemoryStore::resolve_unknown(ServerId server, std::uint64_t fence) {
    co_return store::resolve_unknown(*parts_->state, server, fence);
}

Task<Result<ServiceView>> MemoryStore::service() { co_return parts_->views.service(); }

Task<Result<SessionView>> MemoryStore::session(SessionId session, JobId runs_behind) {
    auto view = parts_->views.session(session, runs_behind);
    if (!view) co_return error(Errc::not_found, "there is no such session");
    co_return std::move(*view);
}

Task<Result<std::optional<SessionId>>> MemoryStore::latest_session(StateDirectory directory) {
    co_return parts_->views.latest_session(directory);
}

Task<Result<OverdueView>> MemoryStore::overdue(WallTime wall, std::uint32_t limit) {
    co_return parts_->views.overdue(wall, limit);
}

Task<Result<OwnerView>> MemoryStore::owner(SessionId session) {
    auto view = parts_->views.owner(session);
    if (!view) co_return error(Errc::not_found, "there is no such session");
    co_return std::move(*view);
}

Task<Result<std::vector<JobView>>> MemoryStore::jobs(std::vector<JobId> ids,
                                                     AttemptWindow attempts) {
    co_return parts_->views.jobs(ids, attempts);
}

Task<Result<std::optional<JobId>>> MemoryStore::job_of_key(std::string tenant,
                                                           std::string idempotency_key) {
    std::optional<JobId> id;
    if (const auto row = parts_->tables.idempotency(tenant, idempotency_key)) id = row->job;
    co_return id;
}

Task<Result<AuditView>> MemoryStore::audit(AuditPlace after, std::uint32_t limit) {
    co_return parts_->views.audit(after, limit);
}

Task<Result<JobShown>> MemoryStore::job(JobQuery query, ReadTerms) {
    auto shown = parts_->views.job(query);
    if (!shown) co_return error(Errc::not_found, "there is no job " + query.job.text());
    co_return std::move(*shown);
}

Task<Result<RecoveryPage>> MemoryStore::recoveries(RecoveryFilter filter, ReadTerms) {
    co_return parts_->views.recoveries(filter);
}

Task<Result<JobPage>> MemoryStore::list(JobFilter filter, ReadTerms) {
    co_return parts_->views.list(filter);
}

Task<Result<QueuePiece>> MemoryStore::queues(std::string tenant, QueuePlace after, ReadTerms) {
    co_return parts_->views.queues(tenant, after);
}

Task<Result<LimitPiece>> MemoryStore::limits(std::string tenant, LimitPlace from, ReadTerms) {
    co_return parts_->views.limits(tenant, from);
}

Task<Result<RunPiece>> MemoryStore::running(JobId after, ReadTerms) {
    co_return parts_->views.running(after);
}

Task<Result<WorkerPiece>> MemoryStore::workers(WorkerQuery query, ReadTerms) {
    co_return parts_->views.workers(query);
}

Task<Result<std::vector<OwnerView>>> MemoryStore::owners(std::vector<SessionId> sessions,
                                                         ReadTerms) {
    std::vector<OwnerView> found;
    for (const auto id : sessions)
        if (auto owner = parts_->views.owner(id)) found.push_back(std::move(*owner));
    co_return found;
}

Task<Result<std::vector<JobId>>> MemoryStore::holders(Permit permit, std::uint32_t max, ReadTerms) {
    co_return parts_->views.holders(permit, max);
}

}  // namespace perdure
