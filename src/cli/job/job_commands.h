// The commands about jobs, each in the file of its name.
#pragma once

#include "cli/command_context.h"

namespace perdure::cli {

ExitCode run_job(Context& context);
ExitCode submit_jobs(Context& context);
ExitCode list_jobs(Context& context);
ExitCode show_job(Context& context);
ExitCode wait_for_job(Context& context);
ExitCode cancel_jobs(Context& context);
ExitCode discard_job(Context& context);
ExitCode retry_jobs(Context& context);
ExitCode hold_jobs(Context& context);
ExitCode unhold_jobs(Context& context);
ExitCode show_logs(Context& context);
ExitCode explain_job(Context& context);

// Those that relate jobs to each other.
ExitCode add_callback(Context& context);
ExitCode submit_serial(Context& context);
ExitCode submit_parallel(Context& context);

}  // namespace perdure::cli
