// Ticker: advances service time (T2), sweeps after each of its ticks (O2), and holds or seeks the
// keeper's role. It is the one timer: what looks for lost hints is rung by it, unless all is idle.
#pragma once

#include <memory>
#include <optional>
#include <set>

#include "base/log.h"
#include "core/ownership/timing.h"
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
    // Rung at each look while there is work, which somebody may not have been told of [P7].
    void rings(Alarm& alarm) { when_busy_ = &alarm; }
    // A wait of a job begins: a hint to tick and sweep when it ends, not up to half a second later.
    void expect_end_of(Duration wait);

private:
    static constexpr std::size_t waits_max = 1'000;
    // Many waits that end one after the other share a sweep.
    static constexpr Duration sweep_apart = milliseconds(50);

    Duration until_next(Duration tick) const;
    bool has_wait_ended() const;
    void forget_ended_waits();
    Task<bool> tick();
    Task<void> refresh_role();
    Task<void> follow_role(KeeperRole role, ServiceTick clock);
    void ring_if_busy();
    TickDecision decide() const;
    Task<void> sweep();

    Store& store_;
    Clock& clock_;
    GroupCommit& commits_;
    Sweeper& sweeper_;
    ServerId me_;
    Timing timing_;
    Log log_;
    std::unique_ptr<Alarm> alarm_;
    Alarm* when_busy_ = nullptr;
    BootTime started_at_;
    BootTime ticked_at_;  // by this loop; groups tick as well
    BootTime swept_at_;
    BootTime rung_at_;
    std::set<BootTime> waits_;           // their ends
    std::optional<TakeKeeper> renewal_;  // of the role; goes with the next tick
    bool idle_ = false;
    bool is_keeper_ = false;
};

}  // namespace perdure
