#include "server/pruner.h"

#include <utility>

namespace perdure {
namespace {

// A commit of ten milliseconds, half of what a group may take. Smaller ones would wait for the disk
// most of the time.
constexpr std::uint32_t batch_max = 4'000;
constexpr auto period = seconds(30);
// Others commit meanwhile. It must keep up with the rate at which jobs end.
constexpr auto between_batches = milliseconds(1);

}  // namespace

Pruner::Pruner(Clock& clock, GroupCommit& commits, const Ticker& ticker, Blobs* blobs, Log log)
    : commits_(commits),
      ticker_(ticker),
      blobs_(blobs),
      log_(std::move(log)),
      alarm_(clock.make_alarm()) {}

Task<void> Pruner::run(Stop& stop) {
    stop.wakes(*alarm_);
    auto pause = period;
    while (!stop.requested()) {
        co_await alarm_->wait(pause);
        if (stop.requested()) break;
        bool is_unfinished = false;
        if (ticker_.is_keeper()) is_unfinished = co_await prune_once();
        pause = is_unfinished ? between_batches : period;
    }
}

Task<bool> Pruner::prune_once() {
    const ForgetEnded change{batch_max};
    auto reply = co_await commits_.commit(Lane::submits, change);
    if (!reply) {
        log_.write(Level::warn, "retention: will try again", "why", reply.error().what);
        co_return false;
    }
    auto& [jobs, is_unfinished] = std::get<Forgotten>(*reply);
    const bool goes_on = is_unfinished;
    if (!jobs.empty()) log_.write(Level::info, "retention: removed", "jobs", jobs.size());
    const bool has_output = blobs_ && (!jobs.empty() || output_is_left_);
    if (!has_output) co_return goes_on;
    auto cleared = co_await blobs_->remove(std::move(jobs));
    if (!cleared) {
        log_.write(Level::warn, "retention: output left behind", "why", cleared.error().what);
        co_return goes_on;
    }
    output_is_left_ = cleared->unfinished;
    co_return goes_on || output_is_left_;
}

}  // namespace perdure
