// BackupService: a copy of everything that is stored, made while the store goes on working. One at
// a time; liveness does not wait for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace perdure {

// What a backup has, once it is complete.
struct BackupMade {
    std::uint64_t jobs = 0;
    std::uint64_t bytes = 0;
    WallTime taken_on;  // everything that was accepted before is in it
};

struct BackupStatus {
    std::string path;                           // empty: there was none in this server's life
    std::uint64_t bytes = 0;                    // so far
    std::uint64_t bytes_total = 0;              // 0: not known yet
    std::optional<Result<BackupMade>> outcome;  // empty: it is under way

    bool is_running() const { return !path.empty() && !outcome; }
};

class BackupService {
public:
    virtual ~BackupService() = default;
    // Begins one, into a new folder of that absolute path. conflict: another one is under way, or
    // something has that name. invalid: not an absolute path.
    virtual Result<void> start(std::string path) = 0;
    virtual BackupStatus status() const = 0;
};

}  // namespace perdure
