// SweepReport: what a sweep by hand has seen, what it does about it and by which rule [P10].
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ports/store.h"
#include "server/sessions/session_names.h"

namespace perdure {

struct SweepFinding {
    AttemptKey attempt;  // epoch 0: it waits, and has never run; job 0: about no single job
    std::string saw;
    std::string does;
    std::string_view seen_by;  // the rule by which it was seen
    std::string_view rule;     // and the one that decided
    bool acts = true;          // false: it is overdue, and still nothing is to be done
    std::optional<Error> refused;
};
struct SweepReport {
    std::vector<SweepFinding> findings;
    bool carried_out = false;
};

// What decide() of the sweeper makes of each thing that is overdue; its changes are in the order
// of the findings that act.
SweepReport report_of(const OverdueView& overdue, const SessionNames& workers);

}  // namespace perdure
