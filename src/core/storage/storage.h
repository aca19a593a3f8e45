// Storage: what is decided about the room on disks, backups, and what is restored from them.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/job/job.h"

namespace perdure {

// --- the reserve ---------------------------------------------------------------------------------
//
// Room on the disk of the data that new jobs leave alone, so that those that were accepted can
// still be worked off: ends, heartbeats and cancels need some, and retention to free more.

struct SpaceFacts {
    std::uint64_t free_bytes = 0;  // that this user may still write
    std::uint64_t disk_bytes = 0;
    std::uint64_t reserve = 0;  // as configured; 0: none
};

// What is kept free: at most a twentieth of the disk, however small that is.
std::uint64_t reserve_of(const SpaceFacts& facts);

struct SpaceDecision {
    enum class Kind { take_submits, refuse_submits } kind = Kind::take_submits;
    std::string_view rule = "P11/enough_space";
};
SpaceDecision decide_space(const SpaceFacts& facts);

// --- backups -------------------------------------------------------------------------------------
//
// Whether a backup may begin, and go on. It reads from one snapshot, and as long as it does the
// write-ahead log cannot be used again from its beginning: it grows by whatever is committed
// meanwhile. That has a bound, and the server's own room on the disk comes first.

inline constexpr std::uint64_t backup_log_max = std::uint64_t{4} << 30;
inline constexpr std::uint64_t backup_leaves_free = std::uint64_t{256} << 20;

struct BackupFacts {
    std::uint64_t log_bytes = 0;     // of the write-ahead logs now
    std::uint64_t bytes_left = 0;    // to be copied
    std::uint64_t free_at_copy = 0;  // on the disk that the copy is written to
    std::uint64_t free_at_data = 0;  // on the disk of the data directory
    bool is_stopping = false;        // the server
};

struct BackupDecision {
    enum class Kind { go_on, give_up } kind = Kind::go_on;
    std::string_view why = {};  // and what to do
};

// Asked before the first piece and after each.
BackupDecision decide_backup(const BackupFacts& facts);

// --- restored jobs -------------------------------------------------------------------------------
//
// What becomes of a job of a backup when its instance is gone and the restored one takes its place
// (C6). Since the backup was taken the job may have run, and nobody can say: what may run again
// goes on; what must not is left to a person [P4].

struct RestoredJob {
    Effects effects = Effects::repeatable;
    JobState state = JobState::ready;
};

enum class AfterRestore {
    leave,        // it goes on, or has ended
    hold,         // it waits: a person must let it go
    pause_queue,  // an attempt is under way, whose end may put it in line again
};

constexpr AfterRestore decide_after_restore(const RestoredJob& job) {
    if (job.effects == Effects::repeatable || place_of(job.state).place == Place::outcome)
        return AfterRestore::leave;
    return can_be_held(job.state) ? AfterRestore::hold : AfterRestore::pause_queue;
}

}  // namespace perdure
