// OneShot<T>: one coroutine waits for a value that another one sets, once. Setting before waiting
// is fine: the value is kept. Not for use between threads.
#pragma once

#include <optional>
#include <utility>

#include "base/assert.h"
#include "ports/task.h"

namespace perdure {

template <class T>
class OneShot {
public:
    explicit OneShot(Executor executor) : executor_(executor) {}
    OneShot(const OneShot&) = delete;
    OneShot& operator=(const OneShot&) = delete;

    void set(T value) {
        PERDURE_ASSERT(!value_);
        value_ = std::move(value);
        if (waiter_) std::exchange(waiter_, std::nullopt)->resume_later(executor_);
    }

    Task<T> wait() {
        if (!value_) {
            co_await suspend([this](Suspended waiter) {
                PERDURE_ASSERT(!waiter_);
                waiter_.emplace(std::move(waiter));
            });
        }
        co_return std::move(*value_);
    }

private:
    Executor executor_;
    std::optional<T> value_;
    std::optional<Suspended> waiter_;
};

}  // namespace perdure
