// A clock for tests: time stands still until the test lets it pass. Loops that wait for an alarm
// run to their next wait before any time passes, so a test needs no sleeps.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ports/clock.h"

namespace perdure {

class ManualClock;

class ManualAlarm final : public Alarm {
public:
    explicit ManualAlarm(ManualClock& clock);
    ~ManualAlarm() override;

    Task<void> wait(Duration longest) override;
    void ring() override {
        rung_ = true;
        if (waiter_) wake();
    }
    void wake();
    std::optional<BootTime> due() const { return waiter_ ? std::optional{due_} : std::nullopt; }

private:
    ManualClock& clock_;
    BootTime due_;
    bool rung_ = false;
    std::optional<Suspended> waiter_;
};

// Time stands still unless a test lets it pass.
class ManualClock final : public Clock {
public:
    WallTime wall() const override { return {boot_.us}; }
    BootTime boot() const override { return boot_; }
    std::unique_ptr<Alarm> make_alarm() override { return std::make_unique<ManualAlarm>(*this); }
    Executor executor() override { return io_.get_executor(); }

    void pass(Duration time) {
        const auto end = boot_ + time;
        run_ready();
        while (auto* next = earliest()) {
            if (*next->due() > end) break;
            boot_ = std::max(boot_, *next->due());
            next->wake();
            run_ready();
        }
        boot_ = std::max(boot_, end);
    }
    // The whole host is stopped for a while.
    void freeze(Duration time) { boot_ = boot_ + time; }
    void run_ready() {
        io_.restart();
        io_.poll();
    }

    std::vector<ManualAlarm*> alarms;

private:
    ManualAlarm* earliest() const {
        ManualAlarm* best = nullptr;
        for (auto* alarm : alarms)
            if (alarm->due() && (!best || *alarm->due() < *best->due())) best = alarm;
        return best;
    }

    boost::asio::io_context io_;
    BootTime boot_{1'000'000'000};
};

inline ManualAlarm::ManualAlarm(ManualClock& clock) : clock_(clock) {
    clock_.alarms.push_back(this);
}
inline ManualAlarm::~ManualAlarm() { std::erase(clock_.alarms, this); }
inline void ManualAlarm::wake() {
    std::exchange(waiter_, std::nullopt)->resume_later(clock_.executor());
}
inline Task<void> ManualAlarm::wait(Duration longest) {
    if (!rung_) {
        due_ = clock_.boot() + longest;
        co_await suspend([this](Suspended me) { waiter_.emplace(std::move(me)); });
    }
    rung_ = false;
}

}  // namespace perdure
