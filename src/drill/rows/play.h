// What the rows have in common: jobs that leave traces, workers that are to be lost, and the checks
// that every run ends with.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <vector>

#include "drill/row.h"
#include "drill/world/proxy.h"

namespace perdure::drill {

inline constexpr double patience_s = 20;       // for what should take moments
inline constexpr double long_patience_s = 40;  // for what waits for leases

Error wrong(std::string what);

// A job of this run that carries out a script.
boost::json::object job_with(const Run& run, const std::string& script);
// Leaves its trace and waits at the gate; only the first attempt does, later ones end at once.
std::string stays_at_first();
// Every attempt waits at the gate.
std::string stays();

struct Started {
    std::string job;
    Trace trace;  // of attempt 1
};
// Submits it and waits until its first attempt runs.
Result<Started> start_job(const Run& run, const boost::json::object& job);

// Injection to next start, without the policy's wait, which is the author's and not ours: what
// passed until the attempt was known to have ended, and what passed after the wait was over.
inline constexpr double crash_wait_s = 1;  // the policy's, after a first crash
double without_wait(Moment injected, Moment known, Moment started, double wait_s);

// What must hold at the end of a run.
struct Expected {
    std::string state = "succeeded";
    std::vector<std::string> causes = {};  // of all attempts, in order; empty: not looked at
    std::size_t starts = 0;                // by the witness; 0: not looked at
};
// Waits for the job's end, compares, and sees that nothing is left over.
Result<JobFacts> check_end(const Run& run, const std::string& job, const Expected& expected);
Result<void> check_nobody_left(const Run& run);

// A worker to be lost, with two jobs of one queue on it (one alone would be taken for the culprit),
// and another worker that may take them over.
struct Victim {
    std::unique_ptr<Proxy> proxy;
    std::unique_ptr<Program> worker;
    std::unique_ptr<Program> rescuer;
    Started victim;
    Started companion;
};
struct VictimOptions {
    boost::json::object job;
    std::vector<std::string> settings = {};  // of the worker to be lost
};
Result<Victim> prepare_victim(const Run& run, VictimOptions options);
// Lets the companion go, wherever it is now, and sees that it succeeded.
Result<void> dismiss(const Run& run, const Victim& victim);

}  // namespace perdure::drill
