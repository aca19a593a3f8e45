// How many resumptions a second the two executors make. Disabled, since it measures and promises
// nothing: executor_test --gtest_also_run_disabled_tests --gtest_filter='Bench.*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "platform/system_time.h"
#include "ports/gate.h"
#include "tests/executor/play.h"
#include "tests/executor/stage.h"

namespace perdure::executor {
namespace {

constexpr std::size_t coroutines = 50;
constexpr std::uint64_t resumptions = 2'000'000;
constexpr auto a_long_time = hours(1'000);

// Each gives way to all others, again and again: no alarm, no timer.
Task<void> give_way(Executor executor, std::uint64_t& left) {
    while (left > 0) {
        --left;
        co_await suspend([executor](Suspended me) { me.resume_later(executor); });
    }
}

// Each waits for its alarm, with a timer behind it, and rings the next.
struct Ring {
    std::vector<std::unique_ptr<Alarm>> alarms;
    std::uint64_t left = resumptions;
};
Task<void> ring_next(Ring& ring, std::size_t me) {
    auto& next = *ring.alarms[(me + 1) % ring.alarms.size()];
    while (ring.left > 0) {
        co_await ring.alarms[me]->wait(a_long_time);
        if (ring.left > 0) --ring.left;
        next.ring();
    }
}

// Each sleeps for a time that has no end of its own: timers alone.
Task<void> sleep_on(Clock& clock, std::uint64_t& left) {
    auto alarm = clock.make_alarm();
    while (left > 0) {
        --left;
        co_await alarm->wait(Duration{});
    }
}

void give_ways(Stage& stage, std::uint64_t& left) {
    Gate gate(stage.clock().executor());
    for (std::size_t i = 0; i < coroutines; ++i)
        gate.spawn("", give_way(stage.clock().executor(), left));
    stage.run();
}

void rings(Stage& stage, std::uint64_t& left) {
    Ring ring{.alarms = {}, .left = left};
    Gate gate(stage.clock().executor());
    for (std::size_t i = 0; i < coroutines; ++i) ring.alarms.push_back(stage.clock().make_alarm());
    for (std::size_t i = 0; i < coroutines; ++i) gate.spawn("", ring_next(ring, i));
    // Half of them run at any time.
    for (std::size_t i = 0; i < coroutines; i += 2) ring.alarms[i]->ring();
    stage.run();
}

void sleeps(Stage& stage, std::uint64_t& left) {
    Gate gate(stage.clock().executor());
    for (std::size_t i = 0; i < coroutines; ++i) gate.spawn("", sleep_on(stage.clock(), left));
    stage.run();
}

using Work = void (*)(Stage&, std::uint64_t&);

double millions_a_second(Stage& stage, Work work, std::uint64_t count) {
    const auto begun = boot_now();
    auto left = count;
    work(stage, left);
    return static_cast<double>(count) / (boot_now() - begun).seconds() / 1e6;
}

void measure(std::string_view what, Work work, std::uint64_t count) {
    constexpr int times = 5;
    std::vector<double> asio;
    std::vector<double> world;
    for (int i = 0; i < times; ++i) {
        AsioStage production;
        asio.push_back(millions_a_second(production, work, count));
        SimStage simulation(static_cast<std::uint64_t>(i));
        world.push_back(millions_a_second(simulation, work, count));
    }
    std::sort(asio.begin(), asio.end());
    std::sort(world.begin(), world.end());
    fmt::print("{:<22} asio {:.2f} ({:.2f} to {:.2f})   world {:.2f} ({:.2f} to {:.2f}) M/s\n",
               what, asio[times / 2], asio.front(), asio.back(), world[times / 2], world.front(),
               world.back());
}

TEST(Bench, DISABLED_resumptions_per_second) {
    measure("posted", give_ways, resumptions);
    measure("alarm rung", rings, resumptions / 10);
    measure("alarm's time is up", sleeps, resumptions / 10);
}

TEST(Bench, DISABLED_plays_per_second) {
    constexpr int plays = 200;
    std::size_t lines = 0;
    const auto begun = boot_now();
    for (std::uint64_t seed = 0; seed < plays; ++seed) {
        SimStage stage(seed);
        lines += Play(stage, whole_script(), whole_script_rounds).run().size();
    }
    const auto took = (boot_now() - begun).seconds();
    fmt::print("simulated: {:.0f} plays a second of {} lines and {} ticks\n", plays / took,
               lines / plays, whole_script_rounds);
}

}  // namespace
}  // namespace perdure::executor
