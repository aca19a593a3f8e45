// RecordingStore: a store that writes down every call and its reply, answers some commits with a
// fault, and calls the prompter at each round: while the keeper's renewal after a tick commits.
// At that point the ticker waits for this very reply, so what the prompter asks for shares the next
// group on every executor, however fast it is.
#pragma once

#include <functional>
#include <optional>

#include "ports/store.h"
#include "tests/executor/trace.h"

namespace perdure::executor {

// What happens to the first commit after it was ordered.
enum class StoreFault { aborted, lost_but_done, lost_and_not_done, down };

class RecordingStore final : public Store {
public:
    using Prompter = std::function<Task<void>(std::size_t round)>;

    RecordingStore(Store& inner, Trace& trace) : inner_(inner), trace_(trace) {}
    void on_round(Prompter prompter) { prompter_ = std::move(prompter); }
    void order(StoreFault fault) { fault_ = fault; }

    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override;
    Task<Result<GroupReply>> commit(Group group) override;
    Task<Result<LastGroup>> resolve_unknown(ServerId server, std::uint64_t fence) override;
    Task<Result<ServiceView>> service() override;
    Task<Result<SessionView>> session(SessionId session, JobId runs_behind = {}) override;
    Task<Result<std::optional<SessionId>>> latest_session(StateDirectory directory) override;
    Task<Result<OverdueView>> overdue(WallTime wall, std::uint32_t limit) override;
    Task<Result<OwnerView>> owner(SessionId session) override;
    Task<Result<std::vector<JobView>>> jobs(std::vector<JobId> ids,
                                            AttemptWindow attempts) override;
    Task<Result<std::optional<JobId>>> job_of_key(std::string tenant,
                                                  std::string idempotency_key) override;
    Task<Result<AuditView>> audit(AuditPlace after, std::uint32_t limit) override;

private:
    std::optional<Error> fault_before(const Group& group);
    std::optional<Error> fault_after();
    void note_group(const Group& group);
    void note_error(const Error& error);

    Store& inner_;
    Trace& trace_;
    Prompter prompter_;
    std::optional<StoreFault> fault_;
    std::size_t round_ = 0;
};

}  // namespace perdure::executor
