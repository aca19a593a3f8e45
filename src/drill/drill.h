// perdure drill: makes every failure that Perdure promises to survive happen, with real processes
// on throw-away instances, and compares what it sees with what is promised [P5]. The table is on
// standard output. Exit code 1: a bound was missed by more than the machine itself was
// late, or a job ended otherwise than it should.
#pragma once

#include <string>
#include <vector>

#include "base/exit_code.h"

namespace perdure::drill {

// The words after `perdure drill`.
ExitCode run_drill(const std::vector<std::string>& words);

}  // namespace perdure::drill
