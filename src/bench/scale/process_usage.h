// ProcessUsage: what processes have used so far, by /proc. Two of them, subtracted, are what they
// used in between. What cannot be read counts as nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace perdure::bench {

struct ProcessUsage {
    std::uint64_t processor_ns = 0;
    std::uint64_t wake_ups = 0;  // a thread went to sleep of its own accord, and came back
    std::uint64_t written_bytes = 0;

    ProcessUsage operator-(const ProcessUsage& earlier) const;
    ProcessUsage& operator+=(const ProcessUsage& other);
};

// Of all threads of all these processes. A thread that ends takes its part with it.
ProcessUsage usage_of(const std::vector<pid_t>& processes);

// The text of /proc/PID/task/TID/schedstat: its first number.
std::uint64_t processor_ns_in(std::string_view schedstat);
// The number behind `name` in "name: number" lines, as in status and io; 0 if it is not there.
std::uint64_t number_in(std::string_view text, std::string_view name);

}  // namespace perdure::bench
