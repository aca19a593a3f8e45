// Reports (rule O1): does a worker's word about the end of an attempt count?
#pragma once

#include <cstdint>
#include <string_view>

#include "core/job/job.h"
#include "core/policy/cause.h"

namespace perdure {

struct ReportFacts {
    bool attempt_exists = false;
    // The speaking session, or an earlier one of its directory, owns it or once did.
    bool session_owned_it = false;
    bool in_run = false;            // this epoch is in `run`
    bool session_is_owner = true;   // the speaking session owns it now
    bool did_not_run = false;       // that is what it says
    bool already_reported = false;  // its end is known from a report
    bool presumed_lost = false;     // its end was only presumed, and nobody has claimed since
    bool job_ended = false;
};

enum class ReportAnswer {
    accept,     // it ends the attempt; decide_next() says what the job does
    correct,    // it was presumed lost: the true end replaces the presumed one
    repeated,   // acknowledged before: the same answer again
    file_late,  // fenced; filed on its attempt as evidence, changes no state
    fenced,     // not its attempt at all
};
struct ReportDecision {
    ReportAnswer answer = ReportAnswer::fenced;
    std::string_view rule;
};
ReportDecision decide_report(const ReportFacts& facts);

// Whether a running job may ask for something as its attempt: to submit, or to see or cancel what
// it has submitted [P2] (A8).
struct InsideFacts {
    bool in_run = false;
    bool session_is_owner = false;
    JobState state = JobState::running;
    bool asks = true;
};
struct InsideDecision {
    bool counts = false;
    std::string_view rule;

    explicit operator bool() const { return counts; }
};
InsideDecision decide_inside(const InsideFacts& facts);

// Begin and checkpoint (O10): they count for the running attempt of the current session only.
struct ProgressFacts {
    bool in_run = false;
    bool session_is_owner = false;
    JobState state = JobState::running;
    bool asks = true;
    std::uint64_t number = 0;  // drawn by the shim, rising within the attempt
    std::uint64_t last_number = 0;
};
struct ProgressDecision {
    bool counts = false;
    std::string_view rule;
    bool repeated = false;  // it has been applied before: same answer, nothing to do

    explicit operator bool() const { return counts; }
};
ProgressDecision decide_progress(const ProgressFacts& facts);

}  // namespace perdure
