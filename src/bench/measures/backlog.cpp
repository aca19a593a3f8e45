#include "bench/job_bodies.h"
#include "bench/measures/claim_times.h"
#include "bench/measures/measures.h"
#include "bench/measures/submitting.h"

namespace perdure::bench {
namespace {

Result<void> fill_with(Claimant& claimant, std::uint16_t port, const std::string& job,
                       std::size_t count) {
    const auto filled = fill(claimant, port, batch_of(job, batch_size), count);
    if (!filled) return filled.error();
    return {};
}

}  // namespace

Result<Waiting> measure_waiting(const std::string& folder, std::size_t waiting) {
    Waiting measured;
    const InstanceOptions options{.role = "server", .folder = folder};
    auto server = Instance::start(options);
    if (!server) return server.error();
    const auto port = (*server)->port();
    auto claimant = Claimant::open({.port = port});
    if (!claimant) return claimant.error();
    if (auto few = fill_with(**claimant, port, noop_job("deep"), batch_size); !few)
        return few.error();
    auto current = (*claimant)->next();
    if (!current) return current.error();
    const auto empty = time_claims(**claimant, *current);
    if (!empty) return empty.error();
    measured.claim_empty_ms = *empty;
    if (auto many = fill_with(**claimant, port, noop_job("deep"), waiting); !many)
        return many.error();
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
    auto claimant = Claimant::open({.port = port, .slots = 2});
    if (!claimant) return claimant.error();
    const auto job = keyed_job("deep", "one");
    if (auto holder = (*server)->post("/v1/jobs", job); !holder) return holder.error();
    const auto first = (*claimant)->next();
    if (!first) return first.error();
    if (auto running = (*claimant)->start(*first); !running) return running.error();
    if (auto many = fill_with(**claimant, port, job, waiting); !many) return many.error();
    if (auto few = fill_with(**claimant, port, noop_job("deep"), batch_size); !few)
        return few.error();
    auto current = (*claimant)->next();
    if (!current) return current.error();
    return time_claims(**claimant, *current);
}

}  // namespace perdure::bench
