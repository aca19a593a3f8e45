// RealSystem: the machine as the command line sees it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/system.h"

namespace perdure {

class RealSystem final : public cli::System {
public:
    RealSystem();

    const std::map<std::string, std::string>& environment() const override { return environment_; }
    HostFacts host() const override;
    std::string current_directory() const override;
    JobHost here() const override;
    Result<std::string> read_file(const std::string& path) override;
    Result<std::string> read_trusted_file(const std::string& path) override;
    WallTime now() const override;
    Duration utc_offset(WallTime at) const override;
    std::uint64_t random() override;
    void pause(Duration duration) override;
    void catch_interrupts() override;
    cli::Interrupt interrupted() override;
    std::optional<std::string> read_answer(const std::function<bool()>& is_over) override;
    bool has_input() const override;
    std::string last_job() const override;
    void remember_job(const std::string& id) override;

private:
    std::string memory_folder() const;  // empty: there is no place for it

    std::map<std::string, std::string> environment_;
};

// True if Ctrl-C was pressed and nobody has taken note yet; does not take note.
bool interrupt_is_pending();

}  // namespace perdure
