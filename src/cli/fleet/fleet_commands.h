// The commands about queues, limits, workers and the store, each in the file of its name.
#pragma once

#include "cli/command_context.h"

namespace perdure::cli {

ExitCode list_queues(Context& context);
ExitCode pause_queue(Context& context);
ExitCode resume_queue(Context& context);
ExitCode list_limits(Context& context);
ExitCode set_limit(Context& context);
ExitCode list_workers(Context& context);
ExitCode drain_worker(Context& context);
ExitCode explain_policy(Context& context);
ExitCode list_policies(Context& context);
// Tokens and the audit log, with their descriptions for the table of commands.
void add_access(std::vector<Command>& all);
ExitCode create_token(Context& context);
ExitCode list_tokens(Context& context);
ExitCode revoke_token(Context& context);
ExitCode show_audit(Context& context);
ExitCode show_account(Context& context);
ExitCode check_store(Context& context);
ExitCode back_up(Context& context);
ExitCode restore_backup(Context& context);
ExitCode compact_store(Context& context);
ExitCode migrate_store(Context& context);

void add_maintenance(std::vector<Command>& all);

}  // namespace perdure::cli
