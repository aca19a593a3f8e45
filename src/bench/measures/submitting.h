// Submitting many jobs in batches of 1,000, over four connections.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace perdure::bench {

constexpr std::size_t batch_size = 1000;

struct Batches {
    std::uint16_t port = 0;
    std::size_t count = 0;                         // requests
    std::function<std::string(std::size_t)> body;  // of the n-th
    std::size_t jobs = 0;                          // in all of them
    double limit_s = 0;                            // as in Load
};
// Seconds until all are acknowledged. corrupt: an id came twice. unavailable: gave up.
Result<double> submit_batches(const Batches& batches);

// The same job again and again. Seconds until all are acknowledged. `jobs` is a multiple of the
// batch, or less.
Result<double> submit_many(std::uint16_t port, const std::string& job, std::size_t jobs);

}  // namespace perdure::bench
