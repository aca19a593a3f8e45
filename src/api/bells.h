// Bells: wakes requests that wait for a job when something was said about that job here. Hints
// only: a waiter looks again by itself as well [P7].
#pragma once

#include <map>

#include "base/id.h"
#include "ports/clock.h"

namespace perdure {

class Bells {
public:
    // Rings `alarm` for `job` as long as it lives.
    class Listening {
    public:
        Listening(Bells& bells, JobId job, Alarm& alarm)
            : bells_(bells), place_(bells.listeners_.emplace(job, &alarm)) {}
        Listening(const Listening&) = delete;
        Listening& operator=(const Listening&) = delete;
        ~Listening() { bells_.listeners_.erase(place_); }

    private:
        Bells& bells_;
        std::multimap<JobId, Alarm*>::iterator place_;
    };

    void ring(JobId job) {
        if (listeners_.empty()) return;
        const auto [begin, end] = listeners_.equal_range(job);
        for (auto it = begin; it != end; ++it) it->second->ring();
    }
    void ring_all() {
        for (const auto& [job, alarm] : listeners_) alarm->ring();
    }

private:
    std::multimap<JobId, Alarm*> listeners_;
};

}  // namespace perdure
