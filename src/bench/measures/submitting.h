// submit_many(): the same job again and again, in batches of 1,000.
#pragma once

#include <string>

#include "base/result.h"

namespace perdure::bench {

constexpr std::size_t batch_size = 1000;

// Seconds until all are acknowledged. `jobs` is a multiple of the batch, or less. corrupt: an id
// came twice.
Result<double> submit_many(std::uint16_t port, const std::string& job, std::size_t jobs);

}  // namespace perdure::bench
