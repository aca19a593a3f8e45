// StateFolder: a worker's state directory on disk, and what the threads that work on it share.
// Opened under a close-on-exec lock: one worker at a time (O5). All calls may block.
//   lock            held while a worker lives
//   life            its number, and how earlier lives ended
//   attempts/       one directory for each attempt, named JOB.EPOCH
//   spare/          directories to be used again
//   damaged/        what could not be understood, for a person to look at
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/ownership/crash_loop.h"
#include "core/ownership/takeover.h"
#include "processes/disk/spare_folders.h"
#include "shim/format/fd.h"

namespace perdure {

struct Life {
    std::uint64_t number = 0;
    CrashHistory history;
};

class StateFolder {
public:
    // conflict: another worker holds the lock. forbidden: it is not ours alone (A1).
    static Result<std::shared_ptr<StateFolder>> open(const std::string& path);

    // Raises the number durably. Within one process no life has crashed.
    enum class Begins { in_a_new_process, in_the_same_process };
    Result<Life> begin_life(Begins begins);
    void stopped_cleanly();
    std::uint64_t life_number();
    // Jobs of another user reach their own directories, and can list none.
    bool let_jobs_through();
    // Moves a directory out of the way, so that it is not looked at again.
    void move_aside(const std::string& name);

    const StateDirectory& identity() const { return identity_; }
    // What others could read until now, a sentence each.
    const std::vector<std::string>& notes() const { return notes_; }
    SpareFolders& spares() { return spares_; }
    int attempts() const { return attempts_.get(); }
    const std::string& attempts_path() const { return attempts_path_; }
    // By this, processes of our attempts are known in /proc: the mark of one is mark() + its name.
    const std::string& mark() const { return mark_; }

    // Shims that this process has started. Who spawns holds `spawning` shared until the pid is
    // noted; who looks for children that are no shims holds it alone.
    std::shared_mutex spawning;
    void note_shim(pid_t pid);
    void forget_shim(pid_t pid);
    bool is_noted_shim(pid_t pid);

private:
    struct LifeFile {
        std::uint64_t number = 0;
        std::string boot;
        bool clean = true;
        std::vector<BootTime> crashes;
    };
    Result<void> open_root(const std::string& given);
    Result<void> lock_and_open(const std::string& path);
    LifeFile read_life();
    enum class Durability { synced, left_to_the_system };
    int write_life(Durability durability);

    std::vector<std::string> notes_;
    Fd root_;
    Fd lock_;
    Fd attempts_;
    SpareFolders spares_;
    std::string attempts_path_;
    std::string mark_;
    StateDirectory identity_;
    std::mutex life_mutex_;
    LifeFile life_;
    std::mutex pids_mutex_;
    std::set<pid_t> pids_;
};

}  // namespace perdure
