// The program: from words to an exit code. Parses, settles the configuration, runs the command.
#pragma once

#include <string>
#include <vector>

#include "cli/system.h"
#include "cli/terminal.h"

namespace perdure::cli {

ExitCode run_program(const std::vector<std::string>& words, Terminal& term, System& system,
                     SubPrograms& backstage);

}  // namespace perdure::cli
