// Gate: background work starts only here, with a name. It can be told to stop, and says what it
// still waits for. An exception that reaches the root of a task is a bug of ours: it aborts.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "ports/clock.h"
#include "ports/task.h"

namespace perdure {

// Asks loops to end. A loop rings itself awake by registering its alarm.
class Stop {
public:
    bool requested() const { return requested_; }
    void request() {
        requested_ = true;
        for (Alarm* alarm : alarms_) alarm->ring();
    }
    void wakes(Alarm& alarm) { alarms_.push_back(&alarm); }

private:
    bool requested_ = false;
    std::vector<Alarm*> alarms_;
};

class Gate {
public:
    explicit Gate(Executor executor) : executor_(executor) {}
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    void spawn(std::string name, Task<void> task) {
        const auto ticket = ++last_ticket_;
        running_.emplace(ticket, std::move(name));
        boost::asio::co_spawn(executor_, std::move(task),
                              [this, ticket](std::exception_ptr failure) {
                                  PERDURE_ASSERT(failure == nullptr);
                                  running_.erase(ticket);
                                  if (running_.empty() && when_empty_) when_empty_->ring();
                              });
    }

    bool empty() const { return running_.empty(); }
    // Rung each time that nothing is under way any more.
    void when_empty(Alarm& alarm) { when_empty_ = &alarm; }
    std::vector<std::string_view> waiting_for() const {
        std::vector<std::string_view> names;
        for (const auto& [ticket, name] : running_) names.push_back(name);
        return names;
    }

private:
    Executor executor_;
    std::uint64_t last_ticket_ = 0;
    Alarm* when_empty_ = nullptr;
    std::map<std::uint64_t, std::string> running_;
};

}  // namespace perdure
