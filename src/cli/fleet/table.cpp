// The table of commands about the store as a whole.
#include "cli/command.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/local/local_commands.h"

namespace perdure::cli {
namespace {

constexpr std::string_view besides = "Besides";

void add_account(std::vector<Command>& all) {
    all.push_back(
        {.path = "account",
         .group = besides,
         .summary = "what attempts have used: processor time, disk, memory",
         .example = "  perdure account --since 1d\n"
                    "  perdure account --by worker --since 2026-11-01T00:00:00Z",
         .options = {{"--by", "WHAT", "queue (default), kind, tenant, user, worker or host"},
                     {"--since", "WHEN", "attempts that ended since: 1d, or a time"},
                     {"--tenant", "NAME", "of this tenant; * for all"}},
         .settings = server_settings,
         .run = show_account});
}

}  // namespace

void add_maintenance(std::vector<Command>& all) {
    add_account(all);
    all.push_back({.path = "fsck",
                   .group = besides,
                   .summary = "compare everything that is stored with everything else",
                   .example = "  perdure fsck\n  perdure fsck --offline --data /var/lib/perdure",
                   .options = {{"--offline", "", "without a server, exactly; needs the directory"},
                               {"--discard", "TABLE:ROW", "remove a row that fsck calls damaged"}},
                   .settings = server_settings,
                   .run = check_store});
    all.push_back({.path = "backup",
                   .group = besides,
                   .summary = "copy everything that is stored, while the server works",
                   .example = "  perdure backup /backups/monday\n"
                              "  perdure backup /backups/monday --offline --data /var/lib/perdure",
                   .words = {{"path", "of the folder to be made, on the server's machine"}},
                   .options = {{"--offline", "", "without a server; needs the directory"}},
                   .settings = server_settings,
                   .run = back_up});
    all.push_back({.path = "restore",
                   .group = besides,
                   .summary = "make a data directory of a backup: a copy to look at",
                   .example =
                       "  perdure restore /backups/monday --data /var/lib/look\n"
                       "  perdure restore /backups/monday --data /var/lib/perdure --take-over",
                   .words = {{"path", "of the backup"}},
                   .options = {{"--take-over", "",
                                "the other instance is gone for good: go on in its place"}},
                   .settings = {"data"},
                   .run = restore_backup});
    all.push_back({.path = "compact",
                   .group = besides,
                   .summary = "give back what is free in the files; no server may run",
                   .example = "  perdure compact --data /var/lib/perdure",
                   .settings = {"profile", "data"},
                   .run = compact_store});
    all.push_back({.path = "migrate",
                   .group = besides,
                   .summary = "bring a data directory to this version; no server may run",
                   .example = "  perdure migrate --data /var/lib/perdure",
                   .options = {{"--without-log", "",
                                "take a database whose log is not there: another program has moved "
                                "it into the file"}},
                   .settings = {"profile", "data"},
                   .run = migrate_store});
    all.push_back({.path = "config",
                   .group = besides,
                   .summary = "every setting, its value, and where it came from",
                   .example = "  perdure config --json\n"
                              "  perdure config --example >perdure.toml",
                   .options = {{"--example", "", "a file with every setting and its default"}},
                   .settings = {"profile", "data", "server.listen", "server.urls"},
                   .run = show_config});
}

}  // namespace perdure::cli
