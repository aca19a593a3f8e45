// Nemesis: makes accidents happen, of the classes that the plan has, until it is told to stop.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cluster.h"

namespace perdure::sim {

class Nemesis {
public:
    explicit Nemesis(Cluster& cluster);

    // Accidents until `until`; in liveness mode the frozen set begins there.
    void start(TrueTime until);
    std::uint64_t accidents() const { return accidents_; }
    // Some worker that will not stay broken takes such jobs.
    bool is_served(const Shape& shape) const;

private:
    void plan_next();
    void strike();
    void strike_process(Fault fault);
    void strike_network(Fault fault);
    void strike_rest(Fault fault);
    // Without it, every shape that another worker takes is still taken.
    bool is_expendable(std::size_t worker) const;
    // Everything heals but a few permanent faults; a healthy core stays.
    void freeze();
    std::size_t some_server() { return rng_.below(cluster_.server_count()); }
    std::size_t some_worker() { return rng_.below(cluster_.worker_count()); }
    Duration draw_absence();
    void later(Duration wait, std::function<void()> action);

    Cluster& cluster_;
    Rng rng_;
    TrueTime until_;
    std::vector<Fault> classes_;
    std::uint64_t accidents_ = 0;
    std::vector<bool> gone_;  // workers that stay broken for good
};

}  // namespace perdure::sim
