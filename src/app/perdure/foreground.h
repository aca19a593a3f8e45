// In the foreground: `perdure up`, `server` and `worker`. A watchdog around child processes that
// are this very program again, with every setting as a flag.
#pragma once

#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cli/system.h"
#include "config/resolve.h"

namespace perdure {

ExitCode run_in_foreground(cli::Role role, const Configuration& configuration);

// What a child is told. `url`: of the server that this watchdog keeps, once it is known;
// then the server listens there again after a restart, and the worker goes there.
std::vector<std::string> child_words(cli::Role role, const Configuration& configuration,
                                     const std::string& url);

// "perdure is ready: ...".
std::string ready_line(cli::Role role, const Config& config, const std::string& url);

}  // namespace perdure
