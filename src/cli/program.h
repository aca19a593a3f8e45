// The program: from words to an exit code. Parses, settles the configuration, runs the command.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "cli/world.h"

namespace perdure::cli {

ExitCode run_program(const std::vector<std::string>& words, Terminal& term, World& world,
                     Backstage& backstage);

}  // namespace perdure::cli
