#include "sim/world/sim_clock.h"

#include <optional>
#include <utility>

#include "base/assert.h"

namespace perdure::sim {
namespace {

class SimAlarm final : public Alarm {
public:
    SimAlarm(World& world, Life life, const HostTime& host)
        : world_(world), life_(life), host_(host) {}

    Task<void> wait(Duration longest) override {
        if (std::exchange(rung_, false)) co_return;
        PERDURE_ASSERT(!waiting_);
        co_await suspend([this, longest](Suspended me) {
            waiting_ = world_.park(life_, std::move(me));
            world_.wake_at(world_.now() + host_.true_length(longest), *waiting_);
        });
        waiting_.reset();
        rung_ = false;
    }

    void ring() override {
        if (!waiting_) {
            rung_ = true;
            return;
        }
        if (std::exchange(rung_, true)) return;
        world_.wake(*waiting_);
    }

private:
    World& world_;
    Life life_;
    const HostTime& host_;
    std::optional<Ticket> waiting_;
    bool rung_ = false;
};

}  // namespace

std::unique_ptr<Alarm> SimClock::make_alarm() {
    return std::make_unique<SimAlarm>(world_, life_, host_);
}

}  // namespace perdure::sim
