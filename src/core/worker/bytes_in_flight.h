// Bytes in flight: what requests that are being read, answers that are being written and streams
// that are not yet read may take together, over all connections of a server (C8). Beyond it a
// request is answered `overloaded` at once. Three ceilings, so that large bodies never keep small
// requests and workers out:
//   bulk    bodies and answers of more than 64 KiB   three quarters of the budget
//   worker  the same for workers                     seven eighths
//   small   everything else                          the whole budget
#pragma once

#include <cstddef>

namespace perdure {

enum class BytesFor { small, worker, bulk };

inline constexpr std::size_t small_bytes_max = std::size_t{64} << 10;

struct BytesFacts {
    std::size_t budget = 0;
    std::size_t in_flight = 0;  // of everybody, without what is wanted
    std::size_t wanted = 0;
    BytesFor what = BytesFor::bulk;
};
enum class BytesDecision { take, refuse };

BytesDecision decide_bytes(const BytesFacts& facts);

enum class Peer { worker, person };
BytesFor bytes_for(Peer peer, std::size_t size);

// How far a worker may be behind in reading its stream, and the most that one heartbeat's answer
// sends again.
constexpr std::size_t stream_share(std::size_t budget) { return budget / 4; }

// Free memory is given back to the system when a peak is over: no more than a quarter of it was
// needed during the last three looks. Not sooner, for what is given back must be fetched again.
struct PeakFacts {
    std::size_t peak = 0;    // the most since memory was last given back
    std::size_t recent = 0;  // the most since the last look
    unsigned quiet_looks = 0;
};
struct PeakDecision {
    bool give_back = false;
    unsigned quiet_looks = 0;  // for the next look
};
PeakDecision decide_peak(const PeakFacts& facts);

}  // namespace perdure
