// Starting a shim, and finding one again that an earlier worker has started. Both may block.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "processes/disk/state_folder.h"
#include "shim/format/fd.h"

namespace perdure {

// What a worker holds of a living shim.
struct ShimEnds {
    Fd socket;
    Fd pidfd;
    pid_t pid = 0;
};

// `directory` is the attempt's, locked: the lock goes over to the shim. `slots` is the lock on all
// slots, of which it gets a copy; empty if there is none.
// unavailable: it cannot be started. overloaded: there is no room for another process.
Result<ShimEnds> spawn_shim(StateFolder& folder, const std::string& program, Fd directory, Fd slots,
                            const std::string& name);

// unavailable: it does not listen, or not yet.
Result<ShimEnds> connect_shim(const StateFolder& folder, const std::string& name);

}  // namespace perdure
