// The server's process: wires store, loops and HTTP together and runs them until it is told to
// stop.
#pragma once

#include <optional>
#include <string>

#include "base/exit_code.h"
#include "config/config.h"
#include "watchdog/watched.h"

namespace perdure {

struct ProcessSurroundings {
    std::string version;
    WatchdogLink watchdog;
    std::optional<BootTime> died_at = {};  // the life before this one, if the watchdog saw it
};

ExitCode run_server(const Config& config, const ProcessSurroundings& around);

}  // namespace perdure
