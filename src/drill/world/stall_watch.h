// StallWatch: how late the machine itself is. A thread that only sleeps for a moment at a time, and
// notes by how much it overslept: whatever is late by that much, is late for no reason of its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "drill/world/clock.h"

namespace perdure::drill {

class StallWatch {
public:
    StallWatch();
    ~StallWatch();
    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

    // The worst oversleep that began or ended since then, in seconds.
    double worst_since(Moment from) const;

private:
    struct Stall {
        Moment ended;
        double seconds;
    };
    void watch();

    mutable std::mutex lock_;
    std::condition_variable stop_;
    bool stopping_ = false;
    std::vector<Stall> stalls_;  // those that are worth noting, the oldest first
    std::thread thread_;
};

}  // namespace perdure::drill
