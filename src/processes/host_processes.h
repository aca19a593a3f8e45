// HostProcesses: the Processes port over real directories, real shims and real processes. For the
// thread of one loop; what may block runs on two threads of its own.
// Destroying it is a crash, as far as anybody else can tell: shims and processes go on, and the
// next one on the same state directory finds them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "core/ownership/timing.h"
#include "core/worker/job_user.h"
#include "ports/process.h"
#include "processes/disk/cgroup_slots.h"

namespace perdure {

class Host;

struct HostOptions {
    std::string directory;  // the worker's state
    std::string shim;       // path of perdure-shim
    std::string host;       // this machine's name, for the evidence
    std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    std::string servers;                                   // what a job gets as PERDURE_SERVER
    std::vector<std::pair<std::string, std::string>> env;  // for every job; its own goes before it
    Account account;                    // whose HOME, USER, LOGNAME and SHELL a job gets
    std::optional<Credentials> become;  // whose processes jobs are; empty: the worker's
    bool as_submitter = false;          // or each is whose who has submitted it (U3),
    bool root_submitters = false;       // who may be root
    std::string secrets;                // folder of jobs' secrets (disk/secrets.h)
    bool cgroups = true;                // where the machine lets us have them
    std::string cgroup;  // in which the groups of attempts are made; empty: below our own
    Timing timing;
};

class HostProcesses final : public Processes {
public:
    HostProcesses(Executor executor, HostOptions options, Log log);
    ~HostProcesses() override;

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
    void stopped_cleanly() override;

    // How trees are held together here; known after open().
    Containment containment() const;
    // Which limits of a job can be kept here; known after open().
    Enforceable enforceable() const;
    // Both for people: "trees in cgroups (v2), limits: memory, cpu_percent, processes".
    std::string containment_text() const;

private:
    // Shared with the frames of the coroutines above: they may outlive this object.
    std::shared_ptr<Host> host_;
};

}  // namespace perdure
