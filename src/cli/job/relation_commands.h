// The commands that relate jobs to each other, each in the file of its name.
#pragma once

#include "cli/context.h"

namespace perdure::cli {

ExitCode add_callback(Context& context);
ExitCode submit_serial(Context& context);
ExitCode submit_parallel(Context& context);

}  // namespace perdure::cli
