// Becoming the job's user, for good: groups, gid, uid, and no capability. In a child that shares
// its parent's memory (vfork): system calls alone, nothing is allocated. Each step is verified,
// because a process that kept something of its old rights would be the worker.
#pragma once

#include "core/worker/job_user.h"

namespace perdure {

// Answers an errno; zero is success. After a failure nothing but _exit() is safe.
int become(const Credentials& who);

}  // namespace perdure
