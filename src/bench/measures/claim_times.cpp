#include "bench/measures/claim_times.h"

#include "bench/measures/submitting.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t claims_timed = 500;
constexpr double claims_limit_s = 60;  // fewer are a figure, too
constexpr std::size_t batches_between_heartbeats = 10;

}  // namespace

Result<Spread> time_claims(Claimant& claimant, Assigned& current) {
    Samples samples;
    const Stopwatch all;
    for (std::size_t i = 0; i < claims_timed && all.seconds() < claims_limit_s; ++i) {
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

Result<std::size_t> fill(Claimant& claimant, std::uint16_t port, const std::string& batch,
                         std::size_t count, const std::function<bool()>& enough) {
    std::size_t done = 0;
    while (done < count && !(enough && enough())) {
        const auto batches = std::min(batches_between_heartbeats, (count - done) / batch_size);
        const auto took = submit_batches({.port = port,
                                          .count = batches,
                                          .body = [&](std::size_t) { return batch; },
                                          .jobs = batches * batch_size});
        if (!took) return took.error();
        done += batches * batch_size;
        if (auto alive = claimant.heartbeat(); !alive) return alive.error();
    }
    return done;
}

Result<double> time_first_claim(const InstanceOptions& options, std::unique_ptr<Instance>* keep) {
    const Stopwatch watch;
    auto server = Instance::start(options);
    if (!server) return server.error();
    auto claimant = Claimant::open({.port = (*server)->port(), .life = 2});
    if (!claimant) return claimant.error();
    if (auto first = (*claimant)->next(); !first) return first.error();
    const auto took = watch.seconds();
    if (keep) *keep = std::move(*server);
    return took;
}

}  // namespace perdure::bench
