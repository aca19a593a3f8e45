// Parts: what a worker says, in pieces that a server takes (docs/protocol/worker.md).
#pragma once

#include <vector>

#include "wire/worker_protocol.h"

namespace perdure {

// A server takes 16 MiB, and escaping makes at most six bytes of one.
inline constexpr std::size_t part_max = std::size_t{2} << 20;

// In the same order, none of them empty. A request without items has no part.
std::vector<ReportRequest> split(ReportRequest request);
std::vector<LogRequest> split(LogRequest request);

}  // namespace perdure
