#include <fmt/format.h>

#include "bench/job_bodies.h"
#include "bench/measures/claimant.h"
#include "bench/measures/measures.h"
#include "bench/measures/submitting.h"
#include "stage/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t rounds = 500;
constexpr std::size_t submitted_between_heartbeats = 10'000;

// `current` is an attempt that runs; afterwards another one does.
Result<Spread> time_claims(Claimant& claimant, Assigned& current) {
    Samples samples;
    for (std::size_t i = 0; i < rounds; ++i) {
        if (i % 100 == 0)
            if (auto alive = claimant.heartbeat(); !alive) return alive.error();
        const Stopwatch watch;
        if (auto ended = claimant.end(current); !ended) return ended.error();
        auto next = claimant.next();
        if (!next) return next.error();
        samples.add(watch.milliseconds());
        current = *next;
    }
    return samples.spread();
}

Result<void> fill(Claimant& claimant, std::uint16_t port, const std::string& job,
                  std::size_t count) {
    for (std::size_t done = 0; done < count; done += submitted_between_heartbeats) {
        const auto part = std::min(submitted_between_heartbeats, count - done);
        if (auto submitted = submit_many(port, job, part); !submitted) return submitted.error();
        if (auto alive = claimant.heartbeat(); !alive) return alive.error();
    }
    return {};
}

// From the start of a server to its first assignment.
Result<double> time_first_claim(const InstanceOptions& options) {
    const Stopwatch watch;
    auto server = Instance::start(options);
    if (!server) return server.error();
    auto claimant = Claimant::open((*server)->port(), 2, 1);
    if (!claimant) return claimant.error();
    if (auto first = (*claimant)->next(); !first) return first.error();
    return watch.seconds();
}

}  // namespace

Result<Waiting> measure_waiting(const std::string& folder, std::size_t waiting) {
    Waiting measured;
    const InstanceOptions options{.role = "server", .folder = folder};
    auto server = Instance::start(options);
    if (!server) return server.error();
    const auto port = (*server)->port();
    auto claimant = Claimant::open(port, 1, 1);
    if (!claimant) return claimant.error();
    if (auto few = fill(**claimant, port, noop_job("deep"), batch_size); !few) return few.error();
    auto current = (*claimant)->next();
    if (!current) return current.error();
    const auto empty = time_claims(**claimant, *current);
    if (!empty) return empty.error();
    measured.claim_empty_ms = *empty;
    if (auto many = fill(**claimant, port, noop_job("deep"), waiting); !many) return many.error();
    const auto deep = time_claims(**claimant, *current);
    if (!deep) return deep.error();
    measured.claim_ms = *deep;
    (*server)->kill();
    const auto first = time_first_claim(options);
    if (!first) return error(first.error().code, "after the kill: " + first.error().what);
    measured.first_claim_s = *first;
    return measured;
}

// The key's holder runs all the time.
Result<Spread> measure_behind_key(const std::string& folder, std::size_t waiting) {
    auto server = Instance::start({.role = "server", .folder = folder});
    if (!server) return server.error();
    const auto port = (*server)->port();
    auto claimant = Claimant::open(port, 1, 2);
    if (!claimant) return claimant.error();
    const auto job = keyed_job("deep", "one");
    if (auto holder = (*server)->post("/v1/jobs", job); !holder) return holder.error();
    const auto first = (*claimant)->next();
    if (!first) return first.error();
    if (auto running = (*claimant)->start(*first); !running) return running.error();
    if (auto many = fill(**claimant, port, job, waiting); !many) return many.error();
    if (auto few = fill(**claimant, port, noop_job("deep"), batch_size); !few) return few.error();
    auto current = (*claimant)->next();
    if (!current) return current.error();
    return time_claims(**claimant, *current);
}

}  // namespace perdure::bench
