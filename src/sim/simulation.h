// Simulation: one seed from its plan to its verdict. Runs the production server and worker on
// virtual time against one store, with clients, accidents and checkers.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "sim/checkers/checker.h"
#include "sim/checkers/history.h"
#include "sim/cluster.h"
#include "sim/nemesis.h"
#include "sim/plan.h"
#include "sim/workloads/clients.h"

namespace perdure::sim {

struct Verdict {
    std::uint64_t seed = 0;
    Mode mode = Mode::safety;
    std::optional<Violation> violation;
    std::uint64_t step = 0;  // events until the violation, or in all
    std::uint64_t faults = 0;
    std::uint64_t accepted = 0;
    bool quiet = false;  // liveness: too little has happened to show anything
    std::uint64_t trace_hash = 0;
    Duration simulated;
    std::vector<std::string> last_events;
    std::string plan;
};

class Simulation {
public:
    Simulation(Plan plan, std::unique_ptr<Store> store, std::size_t trace_lines);
    ~Simulation();

    // The whole run of a seed.
    Verdict run();

    // For stories: the parts, and time in steps.
    void run_for(Duration length);
    template <class T>
    T run_now(Task<T> task);
    World& world() { return world_; }
    Cluster& cluster() { return *cluster_; }
    Clients& clients() { return *clients_; }
    Checker& checker() { return checker_; }
    History& history() { return history_; }
    Witness& witness() { return witness_; }
    Scripts& scripts() { return scripts_; }
    SimNetwork& network() { return network_; }
    SimDatabase& database() { return database_; }
    const Plan& plan() const { return plan_; }
    JobView job(JobId id);
    AuditView audit();
    Checker::Ledger ledger();
    bool is_answered(std::uint32_t index, SessionId session) const;
    void check_all();
    // After a store has lost commits its jobs are no longer what they were.
    void stop_checking() { checking_ = false; }

private:
    class TraceSink;
    void observe();
    void schedule_full_check();
    void note_hearing(SessionId session, const Hearing& hearing);

    Plan plan_;
    World world_;
    std::unique_ptr<Store> store_;
    Scripts scripts_;
    Witness witness_;
    History history_;
    KeptOutput output_;
    SimNetwork network_;
    SimDatabase database_;
    Checker checker_;
    std::unique_ptr<TraceSink> sink_;
    std::unique_ptr<Cluster> cluster_;
    std::unique_ptr<Clients> clients_;
    std::unique_ptr<Nemesis> nemesis_;
    std::size_t runs_seen_ = 0;
    std::set<SessionId> deaf_;  // sessions that were when they were last looked at
    bool checking_ = true;
};

template <class T>
Task<void> keep(Task<T> task, std::optional<T>* into) {
    into->emplace(co_await std::move(task));
}

// For stores that answer at once: runs a task to its end without letting time pass.
template <class T>
T Simulation::run_now(Task<T> task) {
    std::optional<T> result;
    world_.spawn(keep(std::move(task), &result));
    world_.run_ready();
    PERDURE_ASSERT(result.has_value());
    return std::move(*result);
}

}  // namespace perdure::sim
