#include "core/ownership/report.h"

#include "base/zoo.h"

namespace perdure {

ReportDecision decide_report(const ReportFacts& f) {
    if (!f.attempt_exists) return {ReportAnswer::fenced, "O1/no_such_attempt"};
    const bool owned = f.session_owned_it || zoo(Bug::fence_by_worker_name);
    if (!owned) return {ReportAnswer::fenced, "O1/not_your_attempt"};
    if (f.already_reported) return {ReportAnswer::repeated, "O1/repeated_report"};
    // A result is a fact, whoever says it. "It did not run" is true only until somebody else starts
    // it: the session that took the attempt over may have, so an earlier one is not believed.
    const bool outdated = f.in_run && f.did_not_run && !f.session_is_owner;
    if (outdated && !zoo(Bug::old_session_says_did_not_run))
        return {ReportAnswer::fenced, "O1/did_not_run_said_too_late"};
    if (f.in_run) return {ReportAnswer::accept, "O1/the_running_attempt"};
    if (f.presumed_lost && !f.job_ended) return {ReportAnswer::correct, "O1/presumed_lost_reports"};
    return {ReportAnswer::file_late, "O1/late_result"};
}

InsideDecision decide_inside(const InsideFacts& f) {
    if (!f.in_run || !f.session_is_owner) return {false, "O1/not_the_running_attempt"};
    // It may be quicker than the confirmation of a start that needed no permission.
    const bool runs = f.state == JobState::running || !f.asks;
    if (!runs) return {false, "O4/not_started"};
    return {true, "O1/runs_now"};
}

ProgressDecision decide_progress(const ProgressFacts& f) {
    const auto inside = decide_inside({f.in_run, f.session_is_owner, f.state, f.asks});
    if (!inside) return {false, inside.rule};
    // A delayed checkpoint that arrives after a later `begin` must not make the attempt clean.
    if (f.number < f.last_number && !zoo(Bug::late_checkpoint_after_begin))
        return {false, "O10/overtaken"};
    if (f.number == f.last_number) return {true, "O10/repeated", true};
    return {true, "O10/counts"};
}

}  // namespace perdure
