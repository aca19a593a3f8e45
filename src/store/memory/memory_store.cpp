#include "store/memory/memory_store.h"

#include "store/memory/apply.h"
#include "store/memory/history/ledger.h"
#include "store/memory/show.h"
#include "store/memory/state.h"

namespace perdure {

MemoryStore::MemoryStore(Timing timing) : state_(std::make_unique<memory::State>(timing)) {}
MemoryStore::~MemoryStore() = default;

std::shared_ptr<const memory::State> MemoryStore::snapshot() const {
    return std::make_shared<const memory::State>(*state_);
}

void MemoryStore::roll_back(const memory::State& to) { *state_ = to; }

Task<Result<ServerOpened>> MemoryStore::open_server(ServerId server, WallTime wall) {
    co_return memory::open_server(*state_, server, wall);
}

Task<Result<GroupReply>> MemoryStore::commit(Group group) {
    co_return memory::commit(*state_, group);
}

Task<Result<Settled>> MemoryStore::settle_unknown(ServerId server, std::uint64_t fence) {
    co_return memory::settle_unknown(*state_, server, fence);
}

Task<Result<ServiceView>> MemoryStore::service() { co_return memory::show_service(*state_); }

Task<Result<SessionView>> MemoryStore::session(SessionId session) {
    const auto* row = state_->session(session);
    if (!row) co_return error(Errc::not_found, "there is no such session");
    co_return memory::show_session(*state_, *row);
}

Task<Result<std::optional<SessionView>>> MemoryStore::opening(StateDirectory directory) {
    std::optional<SessionView> view;
    const auto found = state_->latest_sessions.find(memory::place_of(directory));
    if (found != state_->latest_sessions.end())
        view = memory::show_session(*state_, state_->session_of(found->second));
    co_return view;
}

Task<Result<OverdueView>> MemoryStore::overdue(WallTime wall, std::uint32_t limit) {
    co_return memory::show_overdue(*state_, wall, limit);
}

Task<Result<std::vector<JobView>>> MemoryStore::jobs(std::vector<JobId> ids) {
    std::vector<JobView> views;
    for (const auto id : ids)
        if (const auto* job = state_->job(id)) views.push_back(memory::show_job(*state_, *job));
    co_return views;
}

Task<Result<std::optional<JobId>>> MemoryStore::job_of_key(std::string tenant,
                                                           std::string idempotency_key) {
    std::optional<JobId> id;
    const auto found = state_->idempotency.find({tenant, idempotency_key});
    if (found != state_->idempotency.end()) id = found->second.job;
    co_return id;
}

Task<Result<AuditView>> MemoryStore::audit(JobId after, std::uint32_t limit) {
    co_return memory::show_audit(*state_, after, limit);
}

Task<Result<RecoveryPage>> MemoryStore::recoveries(RecoveryFilter filter) {
    co_return memory::show_recoveries(*state_, filter);
}

Task<Result<JobPage>> MemoryStore::list(JobFilter filter) {
    co_return memory::show_list(*state_, filter);
}

Task<Result<Overview>> MemoryStore::overview(std::string tenant) {
    co_return memory::show_overview(*state_, tenant);
}

}  // namespace perdure
