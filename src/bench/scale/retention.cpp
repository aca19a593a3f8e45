// How fast ended jobs are removed, against how fast they end.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/measures/measures.h"
#include "bench/scale/scale_measures.h"

namespace perdure::bench {
namespace {

constexpr std::size_t ended_jobs = 60'000;
constexpr std::size_t retention_slots = 4000;
// Removing them all takes less than a second: a look must not be a large part of that.
constexpr auto poll_interval = std::chrono::milliseconds(20);
constexpr double removal_watched_s = 15;
// Those that ended last may be due only when retention is looked for next.
constexpr double standstill_s = 2;
// The least retention that can be set is a minute, and it is looked for twice in one.
constexpr double removal_begins_s = 110;

struct Removed {
    double per_s = 0;
    bool is_finished = false;
};

struct Left {
    std::size_t jobs = 0;
    double at_s = 0;
};

// From the first one that is gone on, until all are, or no more are for a while.
Removed watch_rest(Instance& instance, std::size_t left_at_first) {
    const Stopwatch watch;
    Left last{left_at_first, 0};
    while (last.jobs > 0 && watch.seconds() < removal_watched_s &&
           watch.seconds() - last.at_s < standstill_s) {
        std::this_thread::sleep_for(poll_interval);
        const auto now_s = watch.seconds();
        auto counts = instance.counts("ended");
        if (!counts) break;
        const auto left = (*counts)["succeeded"];
        if (left != last.jobs) last = {left, now_s};
    }
    const auto removed = static_cast<double>(left_at_first - last.jobs);
    return {last.at_s > 0 ? removed / last.at_s : 0, last.jobs == 0};
}

Result<Removed> watch_removal(Instance& instance) {
    const Deadline begins(removal_begins_s);
    for (;;) {
        std::this_thread::sleep_for(poll_interval);
        auto counts = instance.counts("ended");
        if (!counts) return counts.error();
        const auto left = (*counts)["succeeded"];
        if (left == 0) return error(Errc::unavailable, "all were removed before anyone looked");
        if (left < ended_jobs) return watch_rest(instance, left);
        if (begins.is_over())
            return error(
                Errc::unavailable,
                fmt::format("gave up after {:.0f} s: nothing has been removed", removal_begins_s));
    }
}

}  // namespace

ScaleRows measure_retention(const ScaleWorld& world) {
    const auto up = start_in(world, "retention",
                             {.slots = retention_slots, .settings = {"timing.retention=1m"}});
    if (!up) return up.error();
    const auto ended = measure_drain(**up, "ended", ended_jobs);
    if (!ended) return ended.error();
    const auto removed = watch_removal(**up);
    if (!removed) return removed.error();
    return std::vector{ScaleRow{.name = "retention",
                                .measure = "ended jobs removed",
                                .by = "real worker, HTTP",
                                .small = Reading{"jobs end", ended->per_s, "/s"},
                                .large = Reading{"removed", removed->per_s, "/s"},
                                .wanted = Wanted::ratio_at_least(1),
                                .note = "nothing else to do meanwhile",
                                .gave_up = !removed->is_finished}};
}

}  // namespace perdure::bench
