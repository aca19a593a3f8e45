// What it costs a server that many workers are alive: nothing is claimed, nothing ends, each worker
// lists what it runs every two seconds.
#include <fmt/format.h>

#include <algorithm>

#include "bench/job_bodies.h"
#include "bench/measures/submitting.h"
#include "bench/scale/process_usage.h"
#include "bench/scale/scale_measures.h"
#include "bench/workers/fleet.h"

namespace perdure::bench {
namespace {

constexpr std::size_t few_beating = 10;
constexpr std::size_t many_beating = 1000;
constexpr std::size_t running_each = 100;
constexpr double first_round_s = 2.5;  // each worker has listed everything once
constexpr double beating_s = 10;
constexpr double heartbeats_per_s = 0.5;

struct Beating {
    Reading cores;        // for all that were due, if each costs what the answered ones did
    double answered = 0;  // of those that were due
    std::size_t running = 0;
};

Result<Beating> time_heartbeats(const ScaleWorld& world, std::size_t workers) {
    const auto what =
        fmt::format("{} worker{} × {}", workers, workers == 1 ? "" : "s", running_each);
    const auto server = start_in(world, what, {.role = "server"});
    if (!server) return server.error();
    const auto jobs = workers * running_each;
    if (auto done = submit_many((*server)->port(), noop_job("beating"), jobs); !done)
        return done.error();
    const Deadline deadline(world.limit_s);
    const auto fleet = Fleet::open(
        {.port = (*server)->port(), .workers = workers, .slots = running_each}, deadline);
    if (!fleet) return fleet.error();
    const auto running = (*fleet)->take(jobs, has_started, deadline);
    if (!running) return error(running.error().code, what + ": " + running.error().what);
    if (auto listed = (*fleet)->keep_alive(first_round_s); !listed) return listed.error();
    const auto before = usage_of((*server)->server_process());
    const Stopwatch watch;
    const auto answered = (*fleet)->keep_alive(beating_s);
    if (!answered) return answered.error();
    const auto used = usage_of((*server)->server_process()) - before;
    const auto due = watch.seconds() * heartbeats_per_s * static_cast<double>(workers);
    const auto share = std::min(1.0, static_cast<double>(*answered) / due);
    const auto cores = static_cast<double>(used.processor_ns) / 1e9 / watch.seconds();
    return Beating{{what, share > 0 ? cores / share : cores, "core"}, share, *running};
}

}  // namespace

ScaleRows measure_heartbeats(const ScaleWorld& world) {
    const auto few = time_heartbeats(world, few_beating);
    if (!few) return few.error();
    const auto many = time_heartbeats(world, many_beating);
    if (!many) return many.error();
    return std::vector{ScaleRow{
        .name = "heartbeats",
        .measure = "server's processor time for heartbeats",
        .by = "worker protocol",
        .small = few->cores,
        .large = many->cores,
        .wanted = Wanted::at_most(0.2),
        .note =
            fmt::format("{} attempts ran; {:.0f} % of the heartbeats that were due were answered",
                        many->running, many->answered * 100),
        .gave_up = many->running < many_beating * running_each}};
}

}  // namespace perdure::bench
