// What would happen to a job, for every way in which its next attempt can end: the answers of
// decide_next(), not a description of them. Ends with the same answer share one line.
#pragma once

#include <cstdint>
#include <vector>

#include "core/policy/cause.h"
#include "core/policy/policy.h"
#include "core/policy/recovery.h"

namespace perdure {

struct OutlookFacts {
    PolicyChoice policy;
    Effects effects = Effects::repeatable;
    CauseCounts counts;  // of this generation so far
};

struct Outlook {
    struct End {
        Cause cause = Cause::exit;
        bool alone = false;  // the only attempt of its worker
        friend bool operator==(const End&, const End&) = default;
    };
    std::vector<End> ends;
    std::uint8_t rule_number = 0;  // only if exit code or text of this rule fit; zero: otherwise
    PolicyRule line;               // of the policy
    std::uint32_t used = 0;        // how often it has been used already
    Next next;                     // as if an attempt that has run, and is not clean, ended so now
};

// Conditions of the author's rules first, in their order; then every cause without them.
std::vector<Outlook> explain_policy(const OutlookFacts& facts);

}  // namespace perdure
