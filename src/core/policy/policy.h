// Policy: what to do for each cause: how often, after which wait, then what.
// The built-in policies are one table of data (policy.cpp), read by decide_next().
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/policy/cause.h"

namespace perdure {

enum class PolicyName { default_, never, forever };  // `standard` is called "default" outside C++

constexpr std::string_view to_string(PolicyName name) {
    switch (name) {
        case PolicyName::default_: return "default";
        case PolicyName::never: return "never";
        case PolicyName::forever: return "forever";
    }
    return "default";
}

// Deadlines are sums that must not overflow.
inline constexpr auto duration_max = days(3650);

// Who chose a policy, the most specific first. The choice of the worker on which an attempt ends
// comes before the server's alone (core/policy/policy_book.h).
enum class PolicyLevel { job, kind, queue, worker, server };

constexpr std::string_view to_string(PolicyLevel level) {
    switch (level) {
        case PolicyLevel::job: return "job";
        case PolicyLevel::kind: return "kind";
        case PolicyLevel::queue: return "queue";
        case PolicyLevel::worker: return "worker";
        case PolicyLevel::server: return "server";
    }
    return "server";
}

// The wait before run n + 1: constant w, linear n w, exponential w 2^(n-1), up to a cap.
enum class Growth { constant, linear, exponential };

enum class LastResort { fail, quarantine, expire, cancel };

// One line of an author's own policy: which ends it judges, and how. All that is given must fit.
struct CustomRule {
    static constexpr std::uint32_t always = UINT32_MAX;

    std::vector<Cause> causes;             // empty: every cause that a policy may judge
    std::vector<std::int32_t> exit_codes;  // empty: any; the signal, for crash(signal)
    std::string text;                      // found in the detail or the last lines; empty: any
    std::uint32_t times = 0;               // how many more runs
    Duration wait;                         // zero: at once, first in line, keeps key and limit
    Duration wait_max = hours(1);
    Growth growth = Growth::exponential;
    std::uint32_t jitter_percent = 0;
    bool another_worker = false;
    LastResort then = LastResort::fail;  // when `times` are used up: fail or quarantine

    friend bool operator==(const CustomRule&, const CustomRule&) = default;
};

// The policy that a job's author chose, with what to do about the job's own failures.
struct PolicyChoice {
    PolicyName name = PolicyName::default_;
    std::uint32_t retries = 0;  // more runs after a failure of the job's own (`exit`)
    Duration retry_wait = seconds(1);
    Growth growth = Growth::exponential;
    Duration retry_wait_max = hours(1);
    std::uint32_t jitter_percent = 0;  // up to this much shorter, drawn from job and epoch
    std::string custom;                // the name that `rules` have in the configuration, if one
    std::vector<CustomRule> rules;  // asked first, in order; what none of them judges is `name`'s
    PolicyLevel level = PolicyLevel::job;  // who chose name and rules

    friend bool operator==(const PolicyChoice&, const PolicyChoice&) = default;
};

// Causes that share one budget.
enum class CauseClass {
    own_failure,  // exit, verdict(permanent)
    conflict,     // conflict, verdict(retry), verdict(at) without a time
    disconnected,
    asked_later,  // verdict(at)
    crash,        // crash, oom, shim_lost, corrupt, lost while it ran alone
    owner_lost,   // worker_lost, host_lost
    did_not_run,  // shim_failed, lock_busy, no_resources, and any end with ran == no
    unusable,     // command_unusable
    moved,        // evicted, cut_off, suspect
    timed_out,    // timeout(run, idle, total)
    queue_timeout,
    cancelled,
};
inline constexpr std::size_t cause_class_count = 12;

CauseClass class_of(const AttemptEnd& end);

// One line of a policy.
struct PolicyRule {
    static constexpr std::uint32_t always = UINT32_MAX;

    std::uint32_t times = 0;  // how many more runs
    Duration first_wait;      // zero: at once, first in line, keeps key and limit
    Duration wait_max;        // waits grow up to this
    Growth growth = Growth::exponential;
    std::uint32_t jitter_percent = 0;
    LastResort then = LastResort::fail;  // when `times` are used up
    bool another_worker = false;         // prefer one that did not fail
    bool alarming = false;               // CRITICAL in the log at each repetition
    std::string_view rule;               // id for `perdure why`
};

PolicyRule rule_for(const PolicyChoice& policy, CauseClass cause_class);

// How often each class ended an attempt of this generation; carried from one to the next (E4).
// An attempt without an end counts at its worst, as a crash. What one of the
// author's rules judged counts for that rule alone (core/policy/custom_policy.h).
struct CauseCounts {
    std::array<std::uint32_t, cause_class_count> of{};
    std::uint32_t did_not_run_in_a_row = 0;
    std::vector<std::uint32_t> of_rules;  // of the author's own, by number - 1; may be shorter

    std::uint32_t operator[](CauseClass c) const { return of[static_cast<std::size_t>(c)]; }
    std::uint32_t of_rule(std::uint8_t matched) const {
        return matched <= of_rules.size() ? of_rules[matched - 1U] : 0;
    }
    friend bool operator==(const CauseCounts&, const CauseCounts&) = default;
};

// The counts after one more attempt has ended like this.
CauseCounts with(CauseCounts counts, const AttemptEnd& end);

}  // namespace perdure
