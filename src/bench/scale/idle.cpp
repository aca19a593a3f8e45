// An instance with nothing to do: watchdog, server and worker together.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/scale/process_usage.h"
#include "bench/scale/scale_measures.h"
#include "bench/scale/sync_count.h"

namespace perdure::bench {
namespace {

constexpr double quiet_after_s = 5;
constexpr double idle_watched_s = 30;
constexpr double written_max_kb = 1;
constexpr double syncs_max = 0.5;
constexpr double wake_ups_max = 10;

void pause_for(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

ScaleRow idle_row(std::string measure, double value, std::string unit, Wanted wanted) {
    return {.name = "idle",
            .measure = std::move(measure),
            .by = "/proc, `perdure up`",
            .small = {},
            .large = Reading{"", value, std::move(unit)},
            .wanted = wanted,
            .note = ""};
}

}  // namespace

ScaleRows measure_idle(const ScaleWorld& world) {
    const auto syncs = SyncCount::make(world.folder);
    const auto preload = syncs ? (*syncs)->library() : std::string();
    const auto up = start_in(world, "idle", {.slots = 2, .preload = preload});
    if (!up) return up.error();
    const auto count_syncs = [&] { return syncs ? (*syncs)->value() : 0; };
    pause_for(quiet_after_s);
    const auto syncs_before = count_syncs();
    const auto before = usage_of((*up)->processes());
    const Stopwatch watch;
    pause_for(idle_watched_s);
    const auto used = usage_of((*up)->processes()) - before;
    const auto synced = count_syncs() - syncs_before;
    const auto per_s = [&](std::uint64_t count) {
        return static_cast<double>(count) / watch.seconds();
    };
    std::vector rows = {
        idle_row("written", per_s(used.written_bytes) / 1e3, "kB/s",
                 Wanted::at_most(written_max_kb)),
        idle_row("syncs", per_s(synced), "/s", Wanted::at_most(syncs_max)),
        idle_row("wake-ups", per_s(used.wake_ups), "/s", Wanted::at_most(wake_ups_max)),
        idle_row("share of a core", per_s(used.processor_ns) / 1e7, "%", {})};
    // A start syncs; if none was counted, the library was not loaded.
    if (syncs_before == 0) {
        rows[1].large.reset();
        rows[1].note = syncs ? "the library that counts them was not loaded" : syncs.error().what;
    }
    return rows;
}

}  // namespace perdure::bench
