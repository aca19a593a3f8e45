// Starting a shim, and finding one again that an earlier worker has started. Both may block.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

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

// What a shim is born with.
struct ShimGifts {
    Fd directory;  // the attempt's, locked: the lock goes over to the shim
    Fd slots;      // a copy of the lock on all slots; empty: there is none
    Fd secrets;    // memory with the order's secrets; empty: it has none
};

// A file in memory alone, from its beginning.
Result<Fd> in_memory(std::string_view bytes);

// unavailable: it cannot be started. overloaded: there is no room for another process.
Result<ShimEnds> spawn_shim(StateFolder& folder, const std::string& program, ShimGifts gifts,
                            const std::string& name);

// unavailable: it does not listen, or not yet.
Result<ShimEnds> connect_shim(const StateFolder& folder, const std::string& name);

}  // namespace perdure
