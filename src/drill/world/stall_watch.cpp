#include "drill/world/stall_watch.h"

#include <algorithm>
#include <chrono>

namespace perdure::drill {
namespace {

constexpr auto nap = std::chrono::milliseconds(5);
constexpr double worth_noting_s = 0.002;

}  // namespace

StallWatch::StallWatch() : thread_([this] { watch(); }) {}

StallWatch::~StallWatch() {
    {
        const std::lock_guard guard(lock_);
        stopping_ = true;
    }
    stop_.notify_one();
    thread_.join();
}

void StallWatch::watch() {
    std::unique_lock guard(lock_);
    while (!stopping_) {
        const Stopwatch watch;  // not the date, which may be set
        stop_.wait_for(guard, nap);
        const auto late = watch.seconds() - std::chrono::duration<double>(nap).count();
        if (late >= worth_noting_s) stalls_.push_back({now(), late});
    }
}

double StallWatch::worst_since(Moment from) const {
    const std::lock_guard guard(lock_);
    double worst = 0;
    for (auto stall = stalls_.rbegin(); stall != stalls_.rend(); ++stall) {
        if (seconds_between(from, stall->ended) < 0) break;
        worst = std::max(worst, stall->seconds);
    }
    return worst;
}

}  // namespace perdure::drill
