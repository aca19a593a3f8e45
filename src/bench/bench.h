// perdure bench: first what this machine can do at all, then Perdure on it, in one run and on one
// disk, so that the ratios mean something. Data on standard output, progress on standard error.
#pragma once

#include <string>
#include <vector>

#include "base/exit_code.h"

namespace perdure::bench {

// The words after `perdure bench`. Figures that miss their target are no failure.
ExitCode run_bench(const std::vector<std::string>& words);

}  // namespace perdure::bench
