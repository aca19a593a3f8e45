// The commands that need no server: our own processes, configuration, the job's socket, the shell.
#pragma once

#include "cli/command_context.h"

namespace perdure::cli {

ExitCode keep_up(Context& context);
ExitCode keep_server(Context& context);
ExitCode keep_worker(Context& context);
ExitCode be_server(Context& context);
ExitCode be_worker(Context& context);
ExitCode show_config(Context& context);
ExitCode run_bench(Context& context);
ExitCode run_drill(Context& context);
ExitCode list_faults(Context& context);
ExitCode print_completion(Context& context);
ExitCode print_man_page(Context& context);
ExitCode explain_error(Context& context);
ExitCode print_version(Context& context);

void add_others(std::vector<Command>& all);

// Inside a job.
ExitCode send_progress(Context& context);
ExitCode save_checkpoint(Context& context);
ExitCode send_begin(Context& context);
ExitCode send_verdict(Context& context);
ExitCode send_result(Context& context);

}  // namespace perdure::cli
