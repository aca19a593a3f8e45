// The order of an attempt, made from its assignment: the environment from scratch, the command and
// its limits. Pure: the same assignment gives the same order.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/ownership/timing.h"
#include "core/worker/job_user.h"
#include "shim/format/order.h"
#include "wire/worker_protocol.h"

namespace perdure {

struct Surroundings {
    std::string attempts_path;  // absolute
    std::string mark;           // of the state directory, see leftovers.h
    std::string boot;
    std::string host;
    std::string path;     // what the job gets as PATH
    std::string servers;  // and as PERDURE_SERVER; empty: not known
    std::vector<std::pair<std::string, std::string>> env;  // for every job
    Account account;                    // whose HOME, USER, LOGNAME and SHELL it gets
    std::optional<Credentials> become;  // whose process it is; empty: the worker's
    std::uint64_t life = 0;             // of the worker
    Timing timing;
};

// invalid: there is no command, or something in it that no process can be given.
Result<Order> order_for(const Assignment& assignment, const Surroundings& around);

// Whether a job's `args` say anything.
bool has_args(const JobSpec& spec);

}  // namespace perdure
