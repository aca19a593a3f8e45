// A stage: an executor with its clock, on which the same play is given. One is what production
// uses, the other is the simulator's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>

#include "base/time.h"
#include "platform/asio_clock.h"
#include "ports/clock.h"
#include "sim/world/sim_clock.h"
#include "sim/world/world.h"

namespace perdure::executor {

class Stage {
public:
    virtual ~Stage() = default;
    virtual Clock& clock() = 0;
    // Until nothing can happen any more.
    virtual void run() = 0;
};

class AsioStage final : public Stage {
public:
    Clock& clock() override { return clock_; }
    void run() override { context_.run(); }

private:
    boost::asio::io_context context_;
    AsioClock clock_{context_};
};

class SimStage final : public Stage {
public:
    explicit SimStage(std::uint64_t seed) : world_(seed) {}
    Clock& clock() override { return clock_; }
    void run() override { world_.run(world_.now() + days(365)); }
    sim::World& world() { return world_; }

private:
    sim::World world_;
    const sim::HostTime host_{
        .rate = 1.00007, .boot_us = seconds(1'000).us, .wall_us = seconds(1'700'000'000).us};
    sim::SimClock clock_{world_, world_.new_life(), host_};
};

}  // namespace perdure::executor
