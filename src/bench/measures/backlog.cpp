#include <fmt/format.h>

#include "bench/job_bodies.h"
#include "bench/measures/claimant.h"
#include "bench/measures/measures.h"
#include "bench/measures/submitting.h"
#include "bench/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t rounds = 500;
constexpr std::size_t submitted_between_heartbeats = 50'000;

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

Result<void> measure_waiting(const std::string& folder, std::size_t waiting, Backlog& backlog) {
    const InstanceOptions options{.role = "server", .folder = folder};
    auto server = Instance::start(options);
    if (!server) return server.error();
    const auto port = (*server)->port();
    auto claimant = Claimant::open(port, 1, 1);
    if (!claimant) return claimant.error();
    if (auto few = fill(**claimant, port, noop_job("deep"), batch_size); !few) return few;
    auto current = (*claimant)->next();
    if (!current) return current.error();
    const auto empty = time_claims(**claimant, *current);
    if (!empty) return empty.error();
    backlog.claim_empty_ms = *empty;
    if (auto many = fill(**claimant, port, noop_job("deep"), waiting); !many) return many;
    const auto deep = time_claims(**claimant, *current);
    if (!deep) return deep.error();
    backlog.claim_waiting_ms = *deep;

    (*server)->kill();
    const Stopwatch watch;
    auto next_server = Instance::start(options);
    if (!next_server) return next_server.error();
    auto next_life = Claimant::open((*next_server)->port(), 2, 1);
    if (!next_life) return next_life.error();
    if (auto first = (*next_life)->next(); !first) return first.error();
    backlog.first_claim_s = watch.seconds();
    return {};
}

// The key's holder runs all the time.
Result<void> measure_behind_key(const std::string& folder, std::size_t waiting, Backlog& backlog) {
    auto server = Instance::start({.role = "server", .folder = folder});
    if (!server) return server.error();
    const auto port = (*server)->port();
    auto claimant = Claimant::open(port, 1, 2);
    if (!claimant) return claimant.error();
    const auto job = keyed_job("deep", "one");
    if (auto holder = (*server)->post("/v1/jobs", job); !holder) return holder.error();
    if (auto running = (*claimant)->next(); !running) return running.error();
    if (auto many = fill(**claimant, port, job, waiting); !many) return many;
    if (auto few = fill(**claimant, port, noop_job("deep"), batch_size); !few) return few;
    auto current = (*claimant)->next();
    if (!current) return current.error();
    const auto claims = time_claims(**claimant, *current);
    if (!claims) return claims.error();
    backlog.claim_behind_key_ms = *claims;
    return {};
}

}  // namespace

Result<Backlog> measure_backlog(const std::string& waiting_folder, const std::string& key_folder,
                                std::size_t waiting) {
    Backlog backlog;
    if (auto done = measure_waiting(waiting_folder, waiting, backlog); !done) return done.error();
    if (auto done = measure_behind_key(key_folder, waiting, backlog); !done) return done.error();
    return backlog;
}

}  // namespace perdure::bench
