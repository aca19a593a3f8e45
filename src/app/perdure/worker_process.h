// The worker's process: wires shims, servers and the worker's loops together and runs them until it
// is told to leave.
#pragma once

#include "app/perdure/server_process.h"
#include "base/exit_code.h"
#include "config/config.h"

namespace perdure {

// SIGTERM drains. SIGUSR1 detaches: shims stay and the next worker adopts them (L2).
ExitCode run_worker(const Config& config, const ProcessSurroundings& around);

}  // namespace perdure
