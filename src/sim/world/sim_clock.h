// SimClock: the clocks of one simulated host, as one of its processes sees them. The boot clock
// drifts, never steps, and goes on while the host is paused; the wall clock also steps.
#pragma once

#include <memory>

#include "ports/clock.h"
#include "sim/world/world.h"

namespace perdure::sim {

// Of a host; all its processes share it.
struct HostTime {
    double rate = 1.0;         // of its oscillator: 1.0 is true
    std::int64_t boot_us = 0;  // the boot clock at the start of the simulation
    std::int64_t wall_us = 0;  // the wall clock minus the boot clock

    BootTime boot(TrueTime now) const {
        return {boot_us + static_cast<std::int64_t>(static_cast<double>(now.us) * rate)};
    }
    WallTime wall(TrueTime now) const { return {boot(now).us + wall_us}; }
    // How long, in true time, until the boot clock has advanced by this.
    Duration true_length(Duration local) const {
        return {static_cast<std::int64_t>(static_cast<double>(local.us) / rate) + 1};
    }
};

class SimClock final : public Clock {
public:
    SimClock(World& world, Life life, const HostTime& host)
        : world_(world), life_(life), host_(host) {}

    WallTime wall() const override { return host_.wall(world_.now()); }
    BootTime boot() const override { return host_.boot(world_.now()); }
    Executor executor() override { return world_.executor(); }
    std::unique_ptr<Alarm> make_alarm() override;

private:
    World& world_;
    Life life_;
    const HostTime& host_;
};

}  // namespace perdure::sim
