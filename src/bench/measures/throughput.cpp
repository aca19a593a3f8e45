#include "bench/job_bodies.h"
#include "bench/load.h"
#include "bench/measures/measures.h"
#include "bench/measures/submitting.h"
#include "testbed/http_caller.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

Result<double> lives_of(Instance& instance, const std::string& job, const std::string& queue,
                        std::size_t jobs) {
    const Stopwatch watch;
    if (auto submitted = submit_many(instance.port(), job, jobs); !submitted)
        return submitted.error();
    if (auto ended = instance.wait_until_ended(queue, jobs); !ended) return ended.error();
    return watch.rate(jobs);
}

}  // namespace

Result<void> warm_up(Instance& instance) {
    auto warm = lives_of(instance, noop_job("warm"), "warm", batch_size);
    if (!warm) return warm.error();
    return {};
}

Result<double> measure_lives(Instance& instance, const std::string& queue, std::size_t jobs) {
    return lives_of(instance, noop_job(queue), queue, jobs);
}

Result<double> measure_commands(Instance& instance, const std::string& queue, std::size_t jobs) {
    return lives_of(instance, command_job(queue), queue, jobs);
}

Result<Drain> measure_drain(Instance& instance, const std::string& queue, std::size_t jobs) {
    if (auto paused = instance.pause(queue, true); !paused) return paused.error();
    const auto took = submit_many(instance.port(), noop_job(queue), jobs);
    if (!took) return took.error();
    Drain drain{.submit_batch_per_s = static_cast<double>(jobs) / *took};
    const Stopwatch watch;
    if (auto resumed = instance.pause(queue, false); !resumed) return resumed.error();
    if (auto ended = instance.wait_until_ended(queue, jobs); !ended) return ended.error();
    drain.per_s = watch.rate(jobs);
    return drain;
}

Result<double> measure_single_submits(Instance& instance, const std::string& queue,
                                      std::size_t jobs, std::size_t connections) {
    if (auto paused = instance.pause(queue, true); !paused) return paused.error();
    const auto request = request_bytes("POST", "/v1/jobs", noop_job(queue));
    const auto took = drive({.port = instance.port(),
                             .connections = connections,
                             .requests = jobs,
                             .request = [&](std::size_t) -> std::string_view { return request; },
                             .answered = {}});
    if (!took) return took.error();
    auto counts = instance.counts(queue);
    if (!counts) return counts.error();
    if ((*counts)["ready"] != jobs)
        return error(Errc::corrupt, "the server has not as many jobs as it has promised");
    return static_cast<double>(jobs) / *took;
}

}  // namespace perdure::bench
