// RealSubPrograms: the rest of the program, as commands use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/system.h"

namespace perdure {

class RealSubPrograms final : public cli::SubPrograms {
public:
    std::unique_ptr<cli::ApiCaller> connect(const Configuration& configuration,
                                            cli::System& system) override;
    Result<std::string> ask_job_socket(const std::string& path,
                                       const std::string& request) override;
    ExitCode keep_running(cli::Role role, const Configuration& configuration) override;
    ExitCode run_child(cli::Role role, const Configuration& configuration) override;
    Result<cli::OfflineReport> fsck_offline(const Config& config) override;
    Result<std::string> migrate(const Config& config, cli::MissingLog log) override;
    Result<cli::OfflineBackup> backup_offline(const Config& config, const std::string& path,
                                              const cli::BackupProgress& progress) override;
    Result<cli::OfflineRestored> restore(const Config& config, const std::string& backup,
                                         cli::RestoreWhat what) override;
    Result<std::vector<cli::OfflineCompacted>> compact(
        const Config& config, const cli::BackupProgress& progress) override;
    ExitCode bench(const Configuration& configuration,
                   const std::vector<std::string>& words) override;
    ExitCode drill(const std::vector<std::string>& words) override;
    cli::BuildFacts build() const override;
};

}  // namespace perdure
