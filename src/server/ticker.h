// Ticker: advances service time (T2), sweeps after each tick it won (O2), and holds or seeks the
// keeper's role.
#pragma once

#include <memory>

#include "base/log.h"
#include "core/timing.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/store.h"
#include "server/group_commit.h"
#include "server/sweeper.h"

namespace perdure {

class Ticker {
public:
    Ticker(Store& store, Clock& clock, GroupCommit& commits, Sweeper& sweeper, ServerId me,
           Timing timing, Log log);

    Task<void> run(Stop& stop);
    bool is_keeper() const { return is_keeper_; }
    Alarm& alarm() { return *alarm_; }

private:
    Task<void> look_around();
    TickDecision decide() const;

    Store& store_;
    Clock& clock_;
    GroupCommit& commits_;
    Sweeper& sweeper_;
    ServerId me_;
    Timing timing_;
    Log log_;
    std::unique_ptr<Alarm> alarm_;
    BootTime started_at_;
    BootTime ticked_at_;  // by this loop; groups tick as well
    bool idle_ = false;
    bool is_keeper_ = false;
};

}  // namespace perdure
