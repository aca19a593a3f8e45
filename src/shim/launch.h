// Starting the job's own process: a session of its own, the environment of the order and nothing
// else, no other descriptors, nothing blocked or ignored. A failure up to and including exec is
// told apart from everything that the process does later.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/policy/cause.h"
#include "shim/format/order.h"

namespace perdure {

struct LaunchFailure {
    Cause cause = Cause::command_unusable;
    std::string sentence;
};

struct Launch {
    pid_t pid = 0;
    std::optional<LaunchFailure> failure;  // then there is no process
};

// `output` becomes its stdout and stderr. The caller's signals are blocked, its children its own.
Launch launch(const Order& order, const std::string& own_folder, int output);

}  // namespace perdure
