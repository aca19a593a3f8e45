// SimStore: a server's connection to the shared store, with everything that can happen to it:
// delays, aborts, replies that are lost, commits that happen after their reply was lost, outages,
// fail-overs. The store behind it is any implementation of the port.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ports/store.h"
#include "sim/plan.h"
#include "sim/world/tap.h"
#include "sim/world/world.h"

namespace perdure::sim {

// The one store of a simulation and its state of health.
class SimDatabase {
public:
    SimDatabase(World& world, const Plan& plan, Store& inner);

    void go_down(Duration length);
    void go_down_again() { go_down(rng_.between(milliseconds(200), seconds(7))); }
    // A new primary: what was under way is lost or unknown, what was acknowledged is not.
    // Of the process that the store lives in.
    void crash();
    void fail_over(Duration length);
    bool is_down() const { return world_.now() < down_until_; }
    std::uint64_t timeline() const { return timeline_; }
    void set_faults(bool on) { faults_on_ = on; }
    void set_tap(Tap* tap) { tap_ = tap; }
    Tap* tap() { return tap_; }
    std::uint64_t faults() const { return faults_; }

    Duration delay();
    bool draws(Fault fault);
    // What becomes of a commit whose reply is lost.
    enum class Lost { executed, never_executed, executed_later };
    Lost draw_lost() { return static_cast<Lost>(rng_.below(3)); }
    // A decision waits between its facts and its commit.
    bool applies_late() { return faults_on_ && plan_.has(Fault::decide_late) && rng_.chance(0.85); }
    Duration draw_later() { return rng_.between(milliseconds(1), seconds(3)); }
    // Jobs that transactions have touched since the last look, in order.
    std::vector<JobId>& touched() { return touched_; }

    std::size_t pipeline_min_jobs() const { return plan_.pipeline_min_jobs; }
    World& world() { return world_; }
    Store& inner() { return inner_; }

private:
    World& world_;
    const Plan& plan_;
    Store& inner_;
    Rng rng_;
    TrueTime down_until_;
    std::uint64_t timeline_ = 1;
    std::uint64_t faults_ = 0;
    bool faults_on_ = true;
    Tap* tap_ = nullptr;
    std::vector<JobId> touched_;
};

class SimStore final : public Store {
public:
    SimStore(SimDatabase& database, Life server) : database_(database), server_(server) {}

    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override;
    Task<Result<GroupReply>> commit(Group group) override;
    std::size_t pipeline_min_jobs() const override { return database_.pipeline_min_jobs(); }
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
    template <class Reply>
    using Operation = std::function<Task<Result<Reply>>(Store&)>;
    template <class Reply>
    Task<Result<Reply>> remote(Operation<Reply> operation);
    // `what` is for the tap.
    template <class Reply>
    Task<Result<Reply>> remote(Operation<Reply> operation, std::optional<SimDatabase::Lost> lost,
                               std::string what);

    SimDatabase& database_;
    Life server_;
};

}  // namespace perdure::sim
