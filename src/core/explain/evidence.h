// Evidence: what is kept of an attempt for people, besides how it ended. Nothing is decided by it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"

namespace perdure {

// What an attempt and all that it started have taken of the machine. Zero: none, or not known.
struct Usage {
    Duration cpu_user;
    Duration cpu_system;
    std::uint64_t read_bytes = 0;  // from disks: what was in memory already is not counted
    std::uint64_t write_bytes = 0;

    friend bool operator==(const Usage&, const Usage&) = default;
};

inline constexpr auto cpu_time_max = days(7300);

struct Evidence {
    std::string result;      // JSON text that the job left; empty: none
    std::string detail;      // one sentence, for instance why exec failed; empty: nothing to say
    std::string last_lines;  // the end of its output
    std::string host;
    std::uint64_t peak_memory = 0;  // bytes; zero: not known
    Duration ran_for;
    // Bytes of its output that its worker had and no server has taken; for ever (O1).
    std::uint64_t output_undelivered = 0;
    Usage usage;

    // Bytes of its output that were not kept: more than its cap, or than the disk took.
    std::uint64_t output_cut = 0;

    friend bool operator==(const Evidence&, const Evidence&) = default;
};

inline constexpr std::size_t result_max = std::size_t{1} << 20;
// The last 50 lines, or as many of them as fit.
inline constexpr std::size_t last_lines_max = 16 * 1024;
inline constexpr std::size_t detail_max = 16 * 1024;
inline constexpr std::size_t last_lines_count = 50;

// Shared and never changed: it travels with a report through several queues. Null: none.
using EvidenceRef = std::shared_ptr<const Evidence>;

}  // namespace perdure
