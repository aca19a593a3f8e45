// SweepReport: what a sweep by hand has seen, what it does about it and by which rule. The report
// that only tells is made by the same change as the sweep that acts, so that they cannot differ
// [P10].
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "ports/catalogue.h"
#include "ports/store.h"
#include "ports/task.h"

namespace perdure {

struct SweepFinding {
    AttemptKey attempt;  // epoch 0: it waits, and has never run; job 0: about no single job
    std::string saw;
    std::string does;
    std::string_view seen_by;  // the rule by which it was seen
    std::string_view rule;     // and the one that decided
    bool acts = true;          // false: it is overdue, and still nothing is to be done
};
struct SweepReport {
    std::vector<SweepFinding> findings;
    bool carried_out = false;
};

SweepReport report_of(const Swept& swept, const SessionNames& workers);

// The workers behind sessions, for people. Sessions that are not there any more are left out.
Task<SessionNames> names_of_workers(Store& store, std::vector<SessionId> sessions);

}  // namespace perdure
