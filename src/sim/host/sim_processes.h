// SimProcesses: the Processes port of one worker life over its simulated host.
#pragma once

#include <deque>
#include <optional>

#include "ports/process.h"
#include "sim/host/sim_host.h"

namespace perdure::sim {

class SimProcesses final : public Processes {
public:
    SimProcesses(SimHost& host, Life worker);
    ~SimProcesses() override;

    Task<Result<WorkerLife>> open() override;
    Task<Result<std::uint64_t>> next_life() override;
    Task<Result<void>> prepare(Assignment assignment) override;
    void start(AttemptKey attempt, StartOrder order) override;
    void renew(AttemptKey attempt, BootTime lease_until) override;
    void kill(AttemptKey attempt, Cause cause) override;
    Task<std::vector<ProcessEvent>> next_events() override;
    void deliver(AttemptKey attempt, ProcessAnswer answer) override;
    Task<Result<std::string>> output(AttemptKey attempt, std::uint64_t offset,
                                     std::size_t max) override;
    void forget(AttemptKey attempt) override;
    void stopped_cleanly() override { clean_ = true; }

    bool clean() const { return clean_; }

private:
    void push(ProcessEvent event);
    void bury(AttemptKey attempt);
    Task<void> wait_for_disk(Duration wait);

    SimHost& host_;
    Life worker_;
    std::vector<ProcessEvent> events_;
    std::optional<Ticket> waiting_;
    bool clean_ = false;
};

}  // namespace perdure::sim
