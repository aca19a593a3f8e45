// SweepSteps: what a sweep decides about everything that is overdue. The sweep that acts and the
// report that only tells are made of the same steps, so that they cannot differ [P10].
// SweepReport: what a sweep by hand has seen, what it does about it and by which rule.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ports/store.h"
#include "server/sessions/session_names.h"

namespace perdure {

// Steps point into the view that they were made from.
struct RunStep {
    const OverdueRun* overdue = nullptr;
    RecoveryDecision decision;
    std::optional<Settle> settle;  // empty: it is left alone
};
struct WaitStep {
    const OverdueWait* overdue = nullptr;
    WaitDecision decision;
    bool acts() const { return decision.kind != WaitDecision::Kind::wait; }
};
struct SweepSteps {
    ServiceTick clock;
    std::vector<RunStep> runs;
    std::vector<WaitStep> waits;
    std::vector<Thing> things;
};
SweepSteps decide_steps(const OverdueView& overdue);
// One for each step that acts, in the order of the report's findings that do.
std::vector<Change> changes_of(const SweepSteps& steps);

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

SweepReport report_of(const SweepSteps& steps, const SessionNames& workers);

}  // namespace perdure
