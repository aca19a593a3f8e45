#include "platform/asio_clock.h"

#include <algorithm>
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "platform/system_time.h"

namespace perdure {
namespace {

// CLOCK_BOOTTIME in the shape that Asio's timers want.
struct BootTimerClock {
    using duration = std::chrono::microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<BootTimerClock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time_point(duration(boot_now().us)); }
};

// How long the loop may sleep, on a clock that stops with the machine, before it looks again.
struct LookAgain {
    using Wait = BootTimerClock::duration;
    static Wait to_wait_duration(const Wait& wait) {
        return std::min<Wait>(wait, std::chrono::seconds(1));
    }
    static Wait to_wait_duration(const BootTimerClock::time_point& until) {
        return to_wait_duration(until - BootTimerClock::now());
    }
};

using Timer = boost::asio::basic_waitable_timer<BootTimerClock, LookAgain, Executor>;

// What the alarm, the coroutine that waits and the timer's handler share. It outlives the alarm:
// handlers and frames of a loop that is torn down may run or die after it.
struct AlarmState {
    explicit AlarmState(Executor executor) : timer(executor) {}

    Timer timer;
    std::optional<Suspended> waiter;
    std::uint64_t wait_number = 0;  // tells a late timer that its wait is over
    bool waiting = false;           // until the coroutine has run again
    bool rung = false;
};

void time_is_up(AlarmState& state, std::uint64_t wait_number) {
    if (!state.waiter || state.wait_number != wait_number) return;
    std::exchange(state.waiter, std::nullopt)->resume_here();
}

void begin_wait(const std::shared_ptr<AlarmState>& state, Duration longest, Suspended me) {
    state->waiting = true;
    state->waiter.emplace(std::move(me));
    const auto number = ++state->wait_number;
    state->timer.expires_at(BootTimerClock::now() + BootTimerClock::duration(longest.us));
    // An alarm that has rung cancels its timer: then there is nothing to do.
    state->timer.async_wait(
        [state, number](const boost::system::error_code&) { time_is_up(*state, number); });
}

// Holds values only: its frame may outlive the alarm.
Task<void> wait_for(std::shared_ptr<AlarmState> state, Duration longest) {
    if (std::exchange(state->rung, false)) co_return;
    PERDURE_ASSERT(!state->waiting);
    const auto* shared = &state;
    co_await suspend(
        [shared, longest](Suspended me) { begin_wait(*shared, longest, std::move(me)); });
    state->waiting = false;
    state->rung = false;
}

class AsioAlarm final : public Alarm {
public:
    explicit AsioAlarm(Executor executor)
        : executor_(executor), state_(std::make_shared<AlarmState>(executor)) {}
    AsioAlarm(const AsioAlarm&) = delete;
    AsioAlarm& operator=(const AsioAlarm&) = delete;
    ~AsioAlarm() override {
        state_->timer.cancel();
        state_->waiter.reset();
    }

    Task<void> wait(Duration longest) override { return wait_for(state_, longest); }

    void ring() override {
        state_->rung = true;
        // Nobody waits, or it has been woken and not run yet.
        if (!state_->waiter) return;
        std::exchange(state_->waiter, std::nullopt)->resume_later(executor_);
        state_->timer.cancel();
    }

private:
    Executor executor_;
    std::shared_ptr<AlarmState> state_;
};

}  // namespace

WallTime AsioClock::wall() const { return wall_now(); }
BootTime AsioClock::boot() const { return boot_now(); }

std::unique_ptr<Alarm> AsioClock::make_alarm() {
    return std::make_unique<AsioAlarm>(context_.get_executor());
}

}  // namespace perdure
