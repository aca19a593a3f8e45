// drive(): sends requests over several kept-alive connections, one at a time on each, from one
// thread, until all are answered.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace perdure::bench {

struct Load {
    std::uint16_t port = 0;
    std::size_t connections = 1;
    std::size_t requests = 0;
    unsigned expected = 201;
    double limit_s = 0;  // gives up after so long; 0: never, while answers come
    // The bytes of the n-th request; they must stay.
    std::function<std::string_view(std::size_t)> request;
    // What was answered to one of them; may be empty.
    std::function<void(std::string_view body)> answered;
};

// Seconds from the first byte to the last answer. unavailable: something else than `expected` came,
// or it gave up.
Result<double> drive(const Load& load);

}  // namespace perdure::bench
