// SimHost: one machine: its clocks, its disk, its shims and their processes. The disk survives
// everything; shims and processes survive the worker but not the machine.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ownership/start.h"
#include "ports/process.h"
#include "sim/host/script.h"
#include "sim/host/witness.h"
#include "sim/plan.h"
#include "sim/world/sim_clock.h"
#include "sim/world/world.h"

namespace perdure::sim {

// What is in an attempt's directory.
struct AttemptDirectory {
    Assignment assignment;
    std::uint64_t life = 0;  // of the worker that made it
    bool started = false;
    std::optional<AttemptEnd> result;
    std::string output;  // a file beside the shim
};

class SimHost;

// One shim and the process below it. Its judgement is core's; here is only the carrying out.
class SimShim {
public:
    SimShim(SimHost& host, AttemptDirectory& directory);
    ~SimShim();

    void order_start(StartOrder order);
    void renew(BootTime lease_until);
    // Asked by the worker: SIGTERM, then SIGKILL.
    void kill(Cause cause);
    void answer(ProcessEvent::Kind kind, bool committed);
    // kill -9 of the shim itself; the process below is an orphan now.
    void die();
    // kill -9 of everything below and the shim.
    void destroy();
    // Whoever finds the orphan kills it.
    void kill_tree() { process_dies(false); }

    bool alive() const { return alive_; }
    bool process_alive() const { return run_.has_value(); }
    AttemptKey attempt() const { return directory_.assignment.attempt; }
    void pause();
    void resume();

private:
    void try_exec();
    void exec();
    void check_lease();
    void schedule_check();
    void run_script();
    void print(std::uint32_t bytes);
    void script_ends();
    void tree_is_gone();
    void process_dies(bool own_exit);
    void finish(AttemptEnd end);
    void say(ProcessEvent::Kind kind);
    AttemptEnd end_of_script() const;
    BootTime now() const;
    Terms terms() const { return directory_.assignment.terms; }

    SimHost& host_;
    AttemptDirectory& directory_;
    Life life_;
    bool alive_ = true;
    std::optional<BootTime> go_until_;
    BootTime lease_until_;
    BootTime worker_heard_at_;
    bool start_ordered_ = false;
    bool exec_under_way_ = false;
    bool finishing_ = false;
    std::uint64_t progress_number_ = 0;
    bool asking_ = false;  // a begin or checkpoint waits for its answer
    std::optional<Cause> killing_;
    std::optional<AttemptEnd> leader_end_;  // how the command ended; its tree may be there still
    bool leader_exited_by_itself_ = false;
    std::optional<std::size_t> run_;  // the witness's number of the live process
    std::uint64_t checks_ = 0;        // only the newest scheduled check counts
};

class SimHost {
public:
    struct Parts {
        World& world;
        const Plan& plan;
        const Scripts& scripts;
        Witness& witness;
    };
    SimHost(Parts parts, std::uint32_t number, HostTime time);

    std::uint32_t number() const { return number_; }
    const HostTime& time() const { return time_; }
    void step_wall_clock(Duration by) { time_.wall_us += by.us; }
    // Every process dies, the boot id is a new one, the disk stays.
    void power_loss();
    void pause_shims();
    void resume_shims();
    bool kill_some_shim(Rng& rng);

    // Used by the worker's side.
    StateDirectory directory() const;
    // The disk of another machine, as an image or a backup has it; known by `as`, perhaps by the
    // same names.
    void copy_disk(const SimHost& from, StateDirectory as);
    // Somebody removes every attempt's directory, and what ran there is killed.
    void lose_directories();
    std::uint64_t raise_life() { return ++life_number_; }
    std::uint64_t life_number() const { return life_number_; }
    std::map<AttemptKey, AttemptDirectory>& disk() { return disk_; }
    SimShim* shim(AttemptKey attempt);
    SimShim* other_epoch(AttemptKey attempt);
    void launch(AttemptKey attempt);
    void remove(AttemptKey attempt);
    std::map<AttemptKey, std::unique_ptr<SimShim>>& shims() { return shims_; }

    // Where events go while a worker lives; a process that kills its worker calls the other.
    std::function<void(ProcessEvent)> to_worker;
    std::function<void()> kill_worker;
    // The worker is the subreaper: it sees a shim die.
    std::function<void(AttemptKey)> shim_died;

    // How lives of the worker ended, kept on disk.
    void worker_crashed();
    void worker_stopped_cleanly() { follows_a_crash_ = false; }
    CrashHistory crash_history();
    Parts& parts() { return parts_; }
    Rng& rng() { return rng_; }
    // How much one read of an output file brings: chunks are small here.
    std::size_t read_most() const { return read_most_; }
    // How long until a write of a shim is durable.
    Duration durable_write();
    // Whatever the worker is to prepare waits until then: it is heard, and starts nothing.
    void hang_until(TrueTime until) { hangs_until_ = until; }
    TrueTime hangs_until() const { return hangs_until_; }
    // Counts one shim that never comes up, if the plan has such.
    bool shim_fails_to_launch();

private:
    Parts parts_;
    std::uint32_t number_;
    HostTime time_;
    Rng rng_;
    std::uint64_t boot_ = 1;
    std::uint64_t life_number_ = 0;
    bool follows_a_crash_ = false;
    std::vector<BootTime> crashes_;
    std::optional<StateDirectory> copied_;
    std::size_t read_most_;
    TrueTime hangs_until_;
    std::map<AttemptKey, AttemptDirectory> disk_;
    std::map<AttemptKey, std::unique_ptr<SimShim>> shims_;
};

}  // namespace perdure::sim
