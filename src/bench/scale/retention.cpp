// How fast ended jobs are removed, against how fast they end.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/measures/measures.h"
#include "bench/scale/measures.h"

namespace perdure::bench {
namespace {

constexpr std::size_t ended_jobs = 60'000;
constexpr std::size_t retention_slots = 4000;
constexpr auto look_at_rest = std::chrono::milliseconds(250);
constexpr double removal_watched_s = 15;
// The least retention that can be set is a minute, and it is looked for twice in one.
constexpr double removal_begins_s = 110;

struct Removed {
    double per_s = 0;
    bool is_finished = false;
};

// From the first one that is gone on, until all are or it was watched long enough.
Result<Removed> watch_removal(Instance& instance) {
    const Deadline begins(removal_begins_s);
    std::size_t first = 0;
    Stopwatch watch;
    for (;;) {
        std::this_thread::sleep_for(look_at_rest);
        auto counts = instance.counts("ended");
        if (!counts) return counts.error();
        const auto left = (*counts)["succeeded"];
        if (left == ended_jobs) {
            if (begins.is_over())
                return error(Errc::unavailable,
                             fmt::format("gave up after {:.0f} s: nothing has been removed",
                                         removal_begins_s));
            continue;
        }
        if (first == 0) {
            first = left;
            watch = Stopwatch();
            if (left > 0) continue;
            return error(Errc::unavailable, "all were removed before anyone looked");
        }
        if (left == 0 || watch.seconds() > removal_watched_s)
            return Removed{watch.rate(first - left), left == 0};
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
