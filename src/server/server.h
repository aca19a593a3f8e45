// Server: one life of a server process. Wires its loops and use cases; decides nothing.
// It is destroyed by a crash at any moment; everything it knows is in the store.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "core/ownership/timing.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/random.h"
#include "ports/store.h"
#include "server/dispatcher.h"
#include "server/failure_log.h"
#include "server/group_commit.h"
#include "server/job_service.h"
#include "server/pruner.h"
#include "server/sessions/session_service.h"
#include "server/sweeper.h"
#include "server/ticker.h"

namespace perdure {

struct ServerPorts {
    Store& store;
    Clock& clock;
    Random& random;
    // Called when this life cannot go on: the process must exit and be started anew.
    std::function<void(std::string why)> fatal;
    Blobs* blobs = nullptr;  // what jobs print; nothing where they print nothing
    std::size_t lane_max = GroupCommit::Options{}.lane_max;
};

class Server {
public:
    Server(ServerPorts ports, Timing timing, Log log);

    void start();
    void stop();
    // Open for business: its life is known to the store, and it can commit (T3).
    // Rung when this server has been opened.
    void rings(Alarm& observer) { when_opened_ = &observer; }
    bool ready() const { return opened_ && commits_.healthy(); }
    bool is_keeper() const { return ticker_.is_keeper(); }
    std::vector<std::string_view> waiting_for() const { return gate_.waiting_for(); }

    // The policies that this server knows; before it is started.
    void use(const PolicyBook& book) {
        const auto shared = std::make_shared<const PolicyBook>(book);
        jobs_.use(shared);
        sessions_.use(shared);
    }
    JobService& jobs() { return jobs_; }
    SessionService& sessions() { return sessions_; }
    FailureLog& failures() { return failures_; }
    Sweeper& sweeper() { return sweeper_; }
    RecoveryMeter& meter() { return meter_; }
    const JobMeter& job_meter() const { return job_meter_; }

private:
    Task<void> run();

    Clock& clock_;
    ServerId me_;
    Log log_;
    Stop stop_;
    RecoveryMeter meter_;
    JobMeter job_meter_;
    GroupCommit commits_;
    Sweeper sweeper_;
    Ticker ticker_;
    Dispatcher dispatcher_;
    SessionService sessions_;
    JobService jobs_;
    Pruner pruner_;
    FailureLog failures_;
    bool opened_ = false;
    Alarm* when_opened_ = nullptr;
    Gate gate_;
};

}  // namespace perdure
