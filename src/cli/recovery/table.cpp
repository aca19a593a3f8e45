#include "cli/recovery/quarantined.h"
#include "cli/recovery/recovery_commands.h"

namespace perdure::cli {
namespace {

constexpr std::string_view recovery_group = "Recovery";

Command act_on_quarantined(std::string_view path, std::string_view summary,
                           std::string_view example, ExitCode (*run)(Context&),
                           std::vector<Option> options = {}) {
    for (const auto& filter : quarantine_filters()) options.push_back(filter);
    options.push_back({"--all", "", "everything that is in quarantine"});
    options.push_back({"-y,--yes", "", "do not ask"});
    return {.path = path,
            .group = recovery_group,
            .summary = summary,
            .example = example,
            .words = {{"id", "ids of jobs; or choose them by the options", Word::How::any}},
            .options = std::move(options),
            .settings = server_settings,
            .run = run};
}

void add_quarantine(std::vector<Command>& all) {
    all.push_back({.path = "quarantine",
                   .group = recovery_group,
                   .summary = "jobs that need a person",
                   .example = "  perdure quarantine --queue mail",
                   .options = quarantine_filters(),
                   .settings = server_settings,
                   .run = list_quarantine});
    all.push_back({.path = "quarantine list",
                   .group = recovery_group,
                   .summary = "the same",
                   .example = "  perdure quarantine list --json",
                   .options = quarantine_filters(),
                   .settings = server_settings,
                   .run = list_quarantine});
    all.push_back({.path = "quarantine show",
                   .group = recovery_group,
                   .summary = "the evidence about one of them, attempt by attempt",
                   .example = "  perdure quarantine show 06na5x0g00000",
                   .words = {{"id", "the id of a job"}},
                   .settings = server_settings,
                   .run = show_quarantined});
    all.push_back(act_on_quarantined(
        "quarantine release", "let jobs run again, with their settings, counted anew",
        "  perdure quarantine release 06na5x0g00000\n"
        "  perdure quarantine release --queue mail --cause oom",
        release_jobs,
        {{"--may-still-run", "", "even if the old process may still run: you have looked"}}));
    all.push_back(act_on_quarantined("quarantine accept", "take the result that came too late",
                                     "  perdure quarantine accept 06na5x0g00000", accept_jobs));
    all.push_back(act_on_quarantined(
        "quarantine discard", "dealt with; they stay as they are, what still runs is stopped",
        "  perdure quarantine discard --older-than 7d --yes", discard_jobs));
}

}  // namespace

void add_recovery(std::vector<Command>& all) {
    all.push_back({.path = "recoveries",
                   .group = recovery_group,
                   .summary = "the ledger: every automatic repair, newest first",
                   .example = "  perdure recoveries --since 1h\n"
                              "  perdure recoveries --cause worker_lost --json",
                   .options = {{"--job", "ID", "only of this job"},
                               {"--cause", "CAUSE", "only these causes, like crash(signal)"},
                               {"--detector", "NAME", "only what this one saw, like lease"},
                               {"--incident", "NAME", "only this kind, like worker_lost"},
                               {"--since", "TIME", "only since then: 1h, or a time"},
                               {"-n,--limit", "N", "at most so many: 1 to 1000, 50 if left out"},
                               {"--before", "N", "only entries older than this one"},
                               {"--tenant", "NAME", "of this tenant"}},
                   .settings = server_settings,
                   .run = list_recoveries});
    all.push_back({.path = "recover",
                   .group = recovery_group,
                   .summary = "sweep once by hand, and tell what was overdue and what was done",
                   .example = "  perdure recover --report-only",
                   .options = {{"--report-only", "", "change nothing: tell what would be done"}},
                   .settings = server_settings,
                   .run = recover_now});
    add_quarantine(all);
}

}  // namespace perdure::cli
