#include "bench/job_bodies.h"
#include "bench/load.h"
#include "bench/measures/measures.h"
#include "bench/measures/submitting.h"
#include "stage/http_caller.h"
#include "stage/stopwatch.h"

namespace perdure::bench {
namespace {

Result<double> lives_of(Instance& instance, const std::string& job, const char* queue,
                        std::size_t jobs) {
    const Stopwatch watch;
    if (auto submitted = submit_many(instance.port(), job, jobs); !submitted)
        return submitted.error();
    if (auto ended = instance.wait_until_ended(queue, jobs); !ended) return ended.error();
    return watch.rate(jobs);
}

}  // namespace

Result<double> measure_lives(Instance& instance, std::size_t jobs) {
    // The first batch warms up: interns the shape, faults pages in.
    if (auto warm = lives_of(instance, noop_job("warm"), "warm", batch_size); !warm)
        return warm.error();
    return lives_of(instance, noop_job("lives"), "lives", jobs);
}

Result<double> measure_commands(Instance& instance, std::size_t jobs) {
    return lives_of(instance, command_job("commands"), "commands", jobs);
}

Result<Drain> measure_drain(Instance& instance, std::size_t jobs) {
    if (auto paused = instance.pause("drain", true); !paused) return paused.error();
    const auto took = submit_many(instance.port(), noop_job("drain"), jobs);
    if (!took) return took.error();
    Drain drain{.submit_batch_per_s = static_cast<double>(jobs) / *took};
    const Stopwatch watch;
    if (auto resumed = instance.pause("drain", false); !resumed) return resumed.error();
    if (auto ended = instance.wait_until_ended("drain", jobs); !ended) return ended.error();
    drain.per_s = watch.rate(jobs);
    return drain;
}

Result<double> measure_single_submits(Instance& instance, std::size_t jobs,
                                      std::size_t connections) {
    if (auto paused = instance.pause("single", true); !paused) return paused.error();
    const auto request = request_bytes("POST", "/v1/jobs", noop_job("single"));
    const auto took = drive({.port = instance.port(),
                             .connections = connections,
                             .requests = jobs,
                             .request = [&](std::size_t) -> std::string_view { return request; },
                             .answered = {}});
    if (!took) return took.error();
    auto counts = instance.counts("single");
    if (!counts) return counts.error();
    if ((*counts)["ready"] != jobs)
        return error(Errc::corrupt, "the server has not as many jobs as it has promised");
    return static_cast<double>(jobs) / *took;
}

}  // namespace perdure::bench
