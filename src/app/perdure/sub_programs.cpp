#include "app/perdure/sub_programs.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <optional>

#include "app/perdure/build.h"
#include "app/perdure/client_api.h"
#include "app/perdure/foreground.h"
#include "app/perdure/inside_api.h"
#include "app/perdure/server_process.h"
#include "app/perdure/worker_process.h"
#include "base/version.h"
#include "bench/bench.h"
#include "drill/drill.h"
#include "platform/job_socket_client.h"
#include "platform/system_time.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/compact.h"
#include "store/sqlite/fsck.h"
#include "store/sqlite/migrate_offline.h"
#include "store/sqlite/restore.h"
#include "watchdog/child_process.h"

namespace perdure {
namespace {

// What lies in a database is looked after there.
std::optional<Error> refused_on_postgres(const Config& config, const char* instead) {
    if (!config.is_on_postgres()) return std::nullopt;
    return error(Errc::invalid,
                 fmt::format("the jobs are in a PostgreSQL (server.store): {}", instead));
}

Result<DataDirectory> open_offline(const Config& config) {
    auto directory = DataDirectory::open_existing(config.data);
    if (!directory) return directory.error();
    for (const auto& note : directory->notes()) fmt::print(stderr, "perdure: {}\n", note);
    return directory;
}

bool names_server(const Configuration& configuration) {
    for (const auto& each : configuration.effective)
        if (each.setting->name == "server.urls") return each.origin.kind == Origin::Kind::flag;
    return false;
}

}  // namespace

// A server that is named by hand is asked itself, also inside a job. PERDURE_SERVER is not: every
// job has it from its worker, and what is asked through it is asked by nobody's attempt [P2].
std::unique_ptr<cli::ApiCaller> RealSubPrograms::connect(const Configuration& configuration,
                                                         cli::System& system) {
    auto usual = std::make_unique<ClientApi>(configuration.config, system);
    const auto& environment = system.environment();
    const auto socket = environment.find("PERDURE_SOCKET");
    if (socket == environment.end() || names_server(configuration)) return usual;
    return std::make_unique<InsideApi>(socket->second, system, std::move(usual));
}

Result<std::string> RealSubPrograms::ask_job_socket(const std::string& path,
                                                    const std::string& request) {
    return perdure::ask_job_socket(path, request);
}

ExitCode RealSubPrograms::keep_running(cli::Role role, const Configuration& configuration) {
    return run_in_foreground(role, configuration);
}

ExitCode RealSubPrograms::run_child(cli::Role role, const Configuration& configuration) {
    ::prctl(PR_SET_NAME, "perdure");  // started as /proc/self/exe, it would be called `exe`
    ProcessSurroundings around{.version = std::string(version)};
    around.watchdog = watchdog_link(std::getenv(watchdog_variable), std::getenv(alive_variable));
    if (const auto* died = std::getenv(died_variable))
        if (const auto us = std::atoll(died); us > 0) around.died_at = BootTime{us};
    return role == cli::Role::worker ? run_worker(configuration.config, around)
                                     : run_server(configuration.config, around);
}

Result<cli::OfflineReport> RealSubPrograms::fsck_offline(const Config& config) {
    if (auto no = refused_on_postgres(config, "start the server, and ask it with `perdure fsck`"))
        return *no;
    auto directory = open_offline(config);
    if (!directory) return directory.error();
    auto found = perdure::fsck_offline(*directory, config.timing);
    if (!found) return found.error();
    cli::OfflineReport report{
        .jobs = found->jobs, .attempts = found->attempts, .recoveries = found->recoveries};
    for (auto& each : found->findings) report.findings.push_back({each.what, each.job, each.fix});
    return report;
}

Result<std::string> RealSubPrograms::migrate(const Config& config, cli::MissingLog log) {
    if (auto no = refused_on_postgres(config, "a server brings it to its version when it starts"))
        return *no;
    auto directory = open_offline(config);
    if (!directory) return directory.error();
    return migrate_offline(*directory,
                           log == cli::MissingLog::accept ? LostLog::accept : LostLog::refuse);
}

Result<cli::OfflineBackup> RealSubPrograms::backup_offline(const Config& config,
                                                           const std::string& path,
                                                           const cli::BackupProgress& progress) {
    if (auto no = refused_on_postgres(config, "use pg_basebackup, or what your service offers"))
        return *no;
    auto directory = DataDirectory::open_existing(config.data);
    if (!directory) return directory.error();
    const auto made = perdure::backup_offline(
        *directory, {.path = path, .now = wall_now(), .progress = progress});
    if (!made) return made.error();
    return cli::OfflineBackup{made->jobs, made->bytes, made->taken_on};
}

Result<cli::OfflineRestored> RealSubPrograms::restore(const Config& config,
                                                      const std::string& backup,
                                                      cli::RestoreWhat what) {
    const bool takes_over = what == cli::RestoreWhat::take_over;
    auto restored = perdure::restore({.backup = backup,
                                      .data = config.data,
                                      .as = takes_over ? RestoreAs::take_over : RestoreAs::copy},
                                     config.timing);
    if (!restored) return restored.error();
    return cli::OfflineRestored{restored->jobs,      restored->not_ended, restored->taken_on,
                                restored->directory, restored->held,      restored->paused_queues};
}

Result<std::vector<cli::OfflineCompacted>> RealSubPrograms::compact(
    const Config& config, const cli::BackupProgress& progress) {
    if (auto no = refused_on_postgres(config, "its autovacuum does that; VACUUM FULL, if need be"))
        return *no;
    auto directory = open_offline(config);
    if (!directory) return directory.error();
    const auto done = compact_offline(*directory, progress);
    if (!done) return done.error();
    std::vector<cli::OfflineCompacted> files;
    for (const auto& file : *done) files.push_back({file.name, file.before, file.after});
    return files;
}

ExitCode RealSubPrograms::bench(const Configuration&, const std::vector<std::string>& words) {
    return bench::run_bench(words);
}

ExitCode RealSubPrograms::drill(const std::vector<std::string>& words) {
    return drill::run_drill(words);
}

cli::BuildFacts RealSubPrograms::build() const {
    return {.commit = build_commit, .date = build_date};
}

}  // namespace perdure
