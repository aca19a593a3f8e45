// ReferenceStore: what every store must answer, written a second time and more simply: all rows are
// in plain maps, nothing is cached, planned or written in pieces. Random histories compare the
// engine with it, on each kind of tables [P12]. It shares `core` with the engine and nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/timing.h"
#include "core/turns.h"
#include "ports/catalogue.h"
#include "ports/store.h"

namespace perdure {

namespace reference {
struct State;
}

class ReferenceStore : public Store, public Catalogue {
public:
    explicit ReferenceStore(Timing timing, QueueWeights weights = {});
    ~ReferenceStore() override;
    ReferenceStore(const ReferenceStore&) = delete;
    ReferenceStore& operator=(const ReferenceStore&) = delete;

    // What an engine does that begins with nothing but its rows (E7).
    void begin_turns_anew();

    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override;
    Task<Result<GroupReply>> commit(Group group) override;
    Task<Result<Settled>> settle_unknown(ServerId server, std::uint64_t fence) override;

    Task<Result<ServiceView>> service() override;
    Task<Result<SessionView>> session(SessionId session) override;
    Task<Result<std::optional<SessionView>>> opening(StateDirectory directory) override;
    Task<Result<OverdueView>> overdue(WallTime wall, std::uint32_t limit) override;
    Task<Result<std::vector<JobView>>> jobs(std::vector<JobId> ids) override;
    Task<Result<std::optional<JobId>>> job_of_key(std::string tenant,
                                                  std::string idempotency_key) override;
    Task<Result<AuditView>> audit(JobId after, std::uint32_t limit) override;

    Task<Result<RecoveryPage>> recoveries(RecoveryFilter filter) override;
    Task<Result<JobPage>> list(JobFilter filter) override;
    Task<Result<Overview>> overview(std::string tenant) override;

private:
    std::unique_ptr<reference::State> state_;
};

}  // namespace perdure
