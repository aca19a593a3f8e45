// Cause: how an attempt ended, as observed [P9]. What is not known is called unknown by `Ran`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace perdure {

enum class Cause {
    exit,
    verdict_retry,
    verdict_permanent,
    verdict_at,
    conflict,
    disconnected,
    crash_signal,
    crash_worker,
    oom,
    timeout_queue,
    timeout_run,
    timeout_idle,
    timeout_total,
    command_unusable,
    no_resources,
    shim_failed,
    shim_lost,
    lock_busy,
    worker_lost,
    host_lost,
    cut_off,
    evicted,
    cancelled,
    corrupt,
    suspect,  // its worker crashed again and again while it ran beside others (O9)
};

// The one spelling of each cause: on the wire, in SQL, on the screen and in the docs.
inline constexpr std::array<std::string_view, 25> cause_names = {
    "exit",           "verdict(retry)",   "verdict(permanent)",
    "verdict(at)",    "conflict",         "disconnected",
    "crash(signal)",  "crash(worker)",    "oom",
    "timeout(queue)", "timeout(run)",     "timeout(idle)",
    "timeout(total)", "command_unusable", "no_resources",
    "shim_failed",    "shim_lost",        "lock_busy",
    "worker_lost",    "host_lost",        "cut_off",
    "evicted",        "cancelled",        "corrupt",
    "suspect",
};
inline constexpr std::size_t cause_count = cause_names.size();
inline constexpr Cause last_cause = Cause::suspect;

constexpr std::string_view to_string(Cause cause) {
    return cause_names[static_cast<std::size_t>(cause)];
}

// Did the process end by itself, or was it interrupted from outside? (E3)
constexpr bool is_own_exit(Cause cause) {
    switch (cause) {
        case Cause::exit:
        case Cause::verdict_retry:
        case Cause::verdict_permanent:
        case Cause::verdict_at:
        case Cause::conflict:
        case Cause::disconnected: return true;
        default: return false;
    }
}

// Did the attempt's process run? The answer is never guessed: `maybe` is an answer.
enum class Ran { no, maybe, yes };

constexpr std::string_view to_string(Ran ran) {
    switch (ran) {
        case Ran::no: return "no";
        case Ran::maybe: return "maybe";
        case Ran::yes: return "yes";
    }
    return "maybe";
}

// How one attempt ended. `reported`: its worker said so; otherwise the server presumed it.
struct AttemptEnd {
    Cause cause = Cause::corrupt;
    Ran ran = Ran::maybe;
    bool succeeded = false;  // exit code 0, before anybody began to kill it
    bool clean = false;      // a checkpoint was saved and nothing begun since
    bool reported = false;
    bool alone = false;          // the only attempt of its session when it was lost (E4)
    bool counted = true;         // false: it says nothing about the job
    std::int32_t exit_code = 0;  // or the signal, for crash(signal)
    std::optional<WallTime> at;  // for verdict(at)
    std::uint8_t matched = 0;    // the author's rule that judged it, counted from 1; 0: none did
    std::uint64_t policy_fingerprint =
        0;  // fingerprint_of() its worker's policy, if that judged; 0: the job's own

    friend bool operator==(const AttemptEnd&, const AttemptEnd&) = default;
};

// What an end says that cannot be so. A worker's word is checked where it comes in, and what lies
// on a worker's disk before it is sent. Empty if nothing contradicts itself.
struct Contradiction {
    std::string_view field;
    std::string_view what;
};
std::optional<Contradiction> find_contradiction(const AttemptEnd& end);

}  // namespace perdure
