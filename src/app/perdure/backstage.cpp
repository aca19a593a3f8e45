#include "app/perdure/backstage.h"

#include <sys/prctl.h>

#include <cstdlib>

#include "app/perdure/build.h"
#include "app/perdure/client_api.h"
#include "app/perdure/foreground.h"
#include "app/perdure/server_process.h"
#include "app/perdure/worker_process.h"
#include "base/version.h"
#include "bench/bench.h"
#include "drill/drill.h"
#include "platform/job_socket.h"
#include "store/sqlite/fsck.h"
#include "store/sqlite/migrate_offline.h"
#include "watchdog/child_process.h"

namespace perdure {

std::unique_ptr<cli::Api> RealBackstage::connect(const std::vector<std::string>& urls,
                                                 cli::World& world) {
    return std::make_unique<ClientApi>(urls, world);
}

Result<std::string> RealBackstage::ask_job_socket(const std::string& path,
                                                  const std::string& request) {
    return perdure::ask_job_socket(path, request);
}

ExitCode RealBackstage::keep_running(cli::Role role, const Configuration& configuration) {
    return run_in_foreground(role, configuration);
}

ExitCode RealBackstage::run_child(cli::Role role, const Configuration& configuration) {
    ::prctl(PR_SET_NAME, "perdure");  // started as /proc/self/exe, it would be called `exe`
    ProcessSurroundings around{.version = std::string(version)};
    around.watchdog = watchdog_link(std::getenv(watchdog_variable), std::getenv(alive_variable));
    if (const auto* died = std::getenv(died_variable))
        if (const auto us = std::atoll(died); us > 0) around.died_at = BootTime{us};
    return role == cli::Role::worker ? run_worker(configuration.config, around)
                                     : run_server(configuration.config, around);
}

Result<cli::OfflineReport> RealBackstage::fsck_offline(const Config& config) {
    auto directory = DataDirectory::open_existing(config.data);
    if (!directory) return directory.error();
    auto found = perdure::fsck_offline(*directory, config.timing);
    if (!found) return found.error();
    cli::OfflineReport report{
        .jobs = found->jobs, .attempts = found->attempts, .recoveries = found->recoveries};
    for (auto& each : found->findings) report.findings.push_back({each.what, each.job, each.fix});
    return report;
}

Result<std::string> RealBackstage::migrate(const Config& config, cli::MissingLog log) {
    auto directory = DataDirectory::open_existing(config.data);
    if (!directory) return directory.error();
    return migrate_offline(*directory,
                           log == cli::MissingLog::accept ? LostLog::accept : LostLog::refuse);
}

ExitCode RealBackstage::bench(const Configuration&, const std::vector<std::string>& words) {
    return bench::run_bench(words);
}

ExitCode RealBackstage::drill(const std::vector<std::string>& words) {
    return drill::run_drill(words);
}

cli::BuildFacts RealBackstage::build() const {
    return {.commit = build_commit, .date = build_date};
}

}  // namespace perdure
