#include "tests/contract/reference/reference_store.h"

#include <utility>

#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/history/ledger.h"
#include "tests/contract/reference/show.h"
#include "tests/contract/reference/state.h"

namespace perdure {

ReferenceStore::ReferenceStore(Timing timing, QueueWeights weights)
    : state_(std::make_unique<reference::State>(timing, std::move(weights))) {}
ReferenceStore::~ReferenceStore() = default;

void ReferenceStore::begin_turns_anew() { reference::begin_turns_anew(*state_); }

Task<Result<ServerOpened>> ReferenceStore::open_server(ServerId server, WallTime wall) {
    co_return reference::open_server(*state_, server, wall);
}

Task<Result<GroupReply>> ReferenceStore::commit(Group group) {
    co_return reference::commit(*state_, group);
}

Task<Result<Settled>> ReferenceStore::settle_unknown(ServerId server, std::uint64_t fence) {
    co_return reference::settle_unknown(*state_, server, fence);
}

Task<Result<ServiceView>> ReferenceStore::service() { co_return reference::show_service(*state_); }

Task<Result<SessionView>> ReferenceStore::session(SessionId session) {
    const auto* row = state_->session(session);
    if (!row) co_return error(Errc::not_found, "there is no such session");
    co_return reference::show_session(*state_, *row);
}

Task<Result<std::optional<SessionView>>> ReferenceStore::opening(StateDirectory directory) {
    std::optional<SessionView> view;
    const auto found = state_->latest_sessions.find(reference::place_of(directory));
    if (found != state_->latest_sessions.end())
        view = reference::show_session(*state_, state_->session_of(found->second));
    co_return view;
}

Task<Result<OverdueView>> ReferenceStore::overdue(WallTime wall, std::uint32_t limit) {
    co_return reference::show_overdue(*state_, wall, limit);
}

Task<Result<std::vector<JobView>>> ReferenceStore::jobs(std::vector<JobId> ids) {
    std::vector<JobView> views;
    for (const auto id : ids)
        if (const auto* job = state_->job(id)) views.push_back(reference::show_job(*state_, *job));
    co_return views;
}

Task<Result<std::optional<JobId>>> ReferenceStore::job_of_key(std::string tenant,
                                                              std::string idempotency_key) {
    std::optional<JobId> id;
    const auto found = state_->idempotency.find({tenant, idempotency_key});
    if (found != state_->idempotency.end()) id = found->second.job;
    co_return id;
}

Task<Result<AuditView>> ReferenceStore::audit(JobId after, std::uint32_t limit) {
    co_return reference::show_audit(*state_, after, limit);
}

Task<Result<RecoveryPage>> ReferenceStore::recoveries(RecoveryFilter filter) {
    co_return reference::show_recoveries(*state_, filter);
}

Task<Result<JobPage>> ReferenceStore::list(JobFilter filter) {
    co_return reference::show_list(*state_, filter);
}

Task<Result<Overview>> ReferenceStore::overview(std::string tenant) {
    co_return reference::show_overview(*state_, tenant);
}

}  // namespace perdure
