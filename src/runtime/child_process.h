// ChildProcess: one life of one of our own processes, as its watchdog sees it: a process that dies
// with its parent, and a channel on which it says that it is ready.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

// The variable that tells a child the number of its end of the channel.
inline constexpr const char* watchdog_variable = "PERDURE_WATCHDOG";

struct ChildProcess {
    pid_t pid = 0;
    int channel = -1;  // does not block; ends when the child has closed its end
};

// The child runs in a session of its own, without a terminal: Ctrl-C is its parent's to hear. Its
// signals are as usual, its standard input is empty, and the kernel kills it when the calling
// thread ends. `program`: the file to run; `words`: what it is told, beginning with its own name.
// unavailable: it cannot be started.
Result<ChildProcess> start_child(const std::string& program, const std::vector<std::string>& words);

}  // namespace perdure
