// Clients: people and programs that submit jobs, repeat what was not answered with the same
// idempotency key, cancel, hold, and deal with what is in quarantine.
#pragma once

#include <string>
#include <vector>

#include "sim/checkers/history.h"
#include "sim/cluster.h"

namespace perdure::sim {

class Clients {
public:
    struct Parts {
        World& world;
        const Plan& plan;
        Cluster& cluster;
        Scripts& scripts;
        History& history;
    };
    explicit Clients(Parts parts);

    // One coroutine for each client, until `until`.
    void start(TrueTime until);
    // One job, submitted now and repeated until it is accepted or definitely refused.
    Task<std::optional<JobId>> submit(std::size_t client, JobSpec spec);
    // For stories: what a client would have written.
    JobSpec draw_spec();

private:
    Task<void> live(std::size_t client, TrueTime until);
    Task<void> prepare_limits(std::size_t client);
    Task<void> meddle(std::size_t client);
    Task<void> cancel(std::size_t client, JobId job);
    Task<void> deal_with(std::size_t client, JobId job);
    template <class Reply, class Handle>
    Task<std::optional<Result<Reply>>> ask(std::size_t client, Handle handle);

    Parts parts_;
    Rng rng_;
    std::vector<Life> lives_;
    std::vector<JobId> known_;
    std::uint64_t next_key_ = 0;
};

}  // namespace perdure::sim
