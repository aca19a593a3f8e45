// Claims one after another, seen by the worker: an end reported, the next assignment read.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "bench/instance.h"
#include "bench/samples.h"
#include "bench/workers/claimant.h"

namespace perdure::bench {

// `current` is an attempt that runs; afterwards another one does.
Result<Spread> time_claims(Claimant& claimant, Assigned& current);

// Submits the body of a batch again and again until there are `count` jobs; the worker stays
// alive meanwhile. Stops early once `enough` says so. How many were submitted.
Result<std::size_t> fill(Claimant& claimant, std::uint16_t port, const std::string& batch,
                         std::size_t count, const std::function<bool()>& enough = {});

// Starts the server and a worker's next life: seconds until its first assignment.
Result<double> time_first_claim(const InstanceOptions& options,
                                std::unique_ptr<Instance>* keep = nullptr);

}  // namespace perdure::bench
