// ChildProcess: one life of one of our own processes, as its watchdog sees it: a process that dies
// with its parent, and a channel on which it says that it is ready.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace perdure {

// The variable that tells a child the number of its end of the channel.
inline constexpr const char* watchdog_variable = "PERDURE_WATCHDOG";
// And the one that tells it when the life before it died: microseconds of the boot clock.
inline constexpr const char* died_variable = "PERDURE_DIED_AT";

// And the one that tells it how often to say that its loop turns, in microseconds.
inline constexpr const char* alive_variable = "PERDURE_ALIVE_EVERY";

// What a child is told about its life besides its words.
struct ChildOrders {
    std::optional<BootTime> died_at = {};      // the life before this one
    std::optional<Duration> alive_every = {};  // empty: nobody wants to know
};

struct ChildProcess {
    pid_t pid = 0;
    int channel = -1;  // does not block; ends when the child has closed its end
};

// The child runs in a session of its own, without a terminal: Ctrl-C is its parent's to hear. Its
// signals are as usual, its standard input is empty, and the kernel kills it when the calling
// thread ends. `program`: the file to run; `words`: what it is told, beginning with its own name.
// unavailable: it cannot be started.
Result<ChildProcess> start_child(const std::string& program, const std::vector<std::string>& words,
                                 const ChildOrders& orders);

}  // namespace perdure
