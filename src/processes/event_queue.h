// EventQueue: what the shims have said, in order, for the one coroutine that follows them.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ports/process.h"
#include "ports/task.h"

namespace perdure {

class EventQueue {
public:
    explicit EventQueue(Executor executor) : executor_(executor) {}

    void push(ProcessEvent event) {
        events_.push_back(std::move(event));
        if (waiter_) std::exchange(waiter_, std::nullopt)->resume_later(executor_);
    }
    // Lets go of who waits: its coroutine is destroyed, as in a crash.
    void close() { waiter_.reset(); }

    // All that there are: one at least.
    static Task<std::vector<ProcessEvent>> next(std::shared_ptr<EventQueue> queue) {
        while (queue->events_.empty()) {
            auto* waits_in = queue.get();
            auto taker = [waits_in](Suspended me) { waits_in->waiter_.emplace(std::move(me)); };
            co_await suspend(std::move(taker));
        }
        co_return std::exchange(queue->events_, {});
    }

private:
    Executor executor_;
    std::vector<ProcessEvent> events_;
    std::optional<Suspended> waiter_;
};

}  // namespace perdure
