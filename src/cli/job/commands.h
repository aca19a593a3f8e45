// The commands about single jobs, each in the file of its name.
#pragma once

#include "cli/context.h"

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

}  // namespace perdure::cli
