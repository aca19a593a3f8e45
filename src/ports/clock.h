// Clock: the only source of time, and the only way to wait for it. Every simulated or real host
// has its own; instants of two hosts must never be compared.
#pragma once

#include <memory>

#include "base/time.h"
#include "ports/task.h"

namespace perdure {

// One coroutine waits; anybody may ring. A ring before the wait is remembered, so that no wake-up
// is lost; several rings count as one.
class Alarm {
public:
    virtual ~Alarm() = default;
    // Returns after `longest`, or earlier if it rings. At most one waiter at a time.
    virtual Task<void> wait(Duration longest) = 0;
    virtual void ring() = 0;
};

class Clock {
public:
    virtual ~Clock() = default;
    virtual WallTime wall() const = 0;  // may step in either direction
    virtual BootTime boot() const = 0;  // never steps; counts suspend
    virtual std::unique_ptr<Alarm> make_alarm() = 0;
    virtual Executor executor() = 0;
};

}  // namespace perdure
