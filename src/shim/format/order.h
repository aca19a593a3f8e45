// Order: everything that a shim needs to know about its attempt, written by the worker into the
// attempt's directory before the shim is started and never changed. docs/formats has the page.
// A text that lacks its last record, or anything that must be there, is corrupt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/job/job.h"
#include "core/ownership/isolation.h"
#include "core/ownership/timing.h"
#include "core/worker/job_user.h"

namespace perdure {

struct Order {
    AttemptKey attempt;
    std::uint64_t assignment = 0;
    std::uint64_t life = 0;                    // of the worker that wrote the order
    PolicyName policy = PolicyName::default_;  // both for the next worker (O9)
    Terms terms;
    Timing timing;                   // of it: kill_margin, worker_silence, kill_grace
    std::string boot;                // the boot id under which the order was written
    std::string host;                // for the evidence
    std::string directory;           // absolute path of the attempt's directory
    std::string cgroup;              // absolute path of the slot's cgroup (v2); empty: none
    std::vector<std::string> joins;  // cgroups (v1) that limit it, by their absolute paths
    std::string oom_counter;         // the file that says `oom_kill N`; empty: nobody counts
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;  // all of it, but for `secrets`
    // The rest of the environment, which is on no disk: the file has the names alone, the values
    // come to the shim through memory.
    std::vector<std::pair<std::string, std::string>> secrets;
    std::string cwd;                    // empty: the attempt's own folder
    std::optional<Credentials> become;  // whose process it is; empty: ours
    std::uint64_t output_max = 0;
    Duration run_timeout;
    std::optional<Duration> idle_timeout;
    std::vector<std::string> faults;  // fault points at which it fails, each once
};

std::string to_text(const Order& order);
Result<Order> parse_order(std::string_view text);

// The values of `secrets`, for the memory that worker and shim share.
std::string secrets_text(const Order& order);
// Puts them into the environment. corrupt: they are not those that the order names.
Result<void> take_secrets(Order& order, std::string_view text);

inline constexpr std::size_t order_max = std::size_t{16} << 20;
inline constexpr std::size_t secrets_max = std::size_t{4} << 20;  // of secrets_text()

}  // namespace perdure
