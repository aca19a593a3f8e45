// Where the command of a job runs if nobody names a folder: in the caller's, if it will run as the
// caller and see the same files, whichever worker takes it; otherwise in a fresh one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/worker/job_host.h"

namespace perdure {

enum class Folder {
    callers,
    fresh_no_worker,     // nobody is there who could take it
    fresh_another_user,  // it may run as another user
    fresh_elsewhere,     // it may run on another machine, or in a container
    fresh_not_known,     // a worker has not said where its jobs run, or not all are known
};

// `workers`: all that could take the job now. Empty: that could not be found out.
Folder decide_folder(const JobHost& caller, const std::optional<std::vector<JobHost>>& workers);

// Of a fresh one: why, for people.
std::string_view why_fresh(Folder folder);

}  // namespace perdure
