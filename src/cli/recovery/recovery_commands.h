// The commands about what went wrong: the ledger, a sweep by hand, and quarantine.
#pragma once

#include <vector>

#include "cli/command_context.h"

namespace perdure::cli {

// Their descriptions, for the table of commands.
void add_recovery(std::vector<Command>& all);

ExitCode list_recoveries(Context& context);
ExitCode recover_now(Context& context);
ExitCode list_quarantine(Context& context);
ExitCode show_quarantined(Context& context);
ExitCode release_jobs(Context& context);
ExitCode accept_jobs(Context& context);
ExitCode discard_jobs(Context& context);

}  // namespace perdure::cli
