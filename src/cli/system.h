// System and SubPrograms: everything that commands need of the machine and of the rest of the
// program. `main` has the real ones; tests have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/api_caller.h"
#include "config/resolve.h"
#include "core/worker/job_host.h"

namespace perdure::cli {

enum class Interrupt { none, by_person, by_signal };

// Where and when a command is given.
class Place {
public:
    virtual ~Place() = default;
    virtual const std::map<std::string, std::string>& environment() const = 0;
    virtual HostFacts host() const = 0;
    virtual std::string current_directory() const = 0;
    // Under which uid this program runs, and the mark of the files that it sees.
    virtual JobHost here() const = 0;
    virtual WallTime now() const = 0;
    // How far the clocks of this place are ahead of UTC at that moment.
    virtual Duration utc_offset(WallTime at) const = 0;
    virtual std::uint64_t random() = 0;
};

class System : public Place {
public:
    // not_found if it does not exist; "-" is standard input.
    virtual Result<std::string> read_file(const std::string& path) = 0;
    // A file of settings that nobody has named. forbidden: it belongs to another account, or can be
    // written by one (A1).
    virtual Result<std::string> read_trusted_file(const std::string& path) = 0;
    // Something lies on standard input, a pipe or a file, and waits to be read. Reads nothing.
    virtual bool has_input() const = 0;
    // The job that this account has submitted last from this machine; empty: none is known.
    virtual std::string last_job() const = 0;
    virtual void remember_job(const std::string& id) = 0;  // as well as it can
    // Returns early when interrupted.
    virtual void pause(Duration duration) = 0;
    // From now on Ctrl-C does not end the program but is told by interrupted().
    virtual void catch_interrupts() = 0;
    // Which it was, once for each: Ctrl-C, or a SIGTERM, which has nobody behind it to be asked.
    virtual Interrupt interrupted() = 0;
    // A line from the person at the terminal; empty if interrupted, at the end, or when `is_over`,
    // which is asked about once a second, says that nobody needs the answer any more.
    virtual std::optional<std::string> read_answer(const std::function<bool()>& is_over = {}) = 0;
};

enum class Role { up, server, worker };

// What this program was built from; empty if that is not known.
struct BuildFacts {
    std::string commit;
    std::string date;  // of the commit: the same sources give the same program
};

struct OfflineFinding {
    std::string what;
    std::string job;  // empty: no single one
    std::string fix;
};

struct OfflineReport {
    std::vector<OfflineFinding> findings;
    std::uint64_t jobs = 0;
    std::uint64_t attempts = 0;
    std::uint64_t recoveries = 0;
};

struct OfflineBackup {
    std::uint64_t jobs = 0;
    std::uint64_t bytes = 0;
    WallTime taken_on;
};
using BackupProgress = std::function<void(std::uint64_t bytes, std::uint64_t total)>;

struct OfflineRestored {
    std::uint64_t jobs = 0;
    std::uint64_t not_ended = 0;
    WallTime taken_on;
    std::string directory;
    std::uint64_t held = 0;
    std::vector<std::string> paused_queues;
};
enum class RestoreWhat { copy, take_over };

struct OfflineCompacted {
    std::string name;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
};

// What to do about a database whose log is not beside it.
enum class MissingLog { refuse, accept };

// What only the whole program can do.
class SubPrograms {
public:
    virtual ~SubPrograms() = default;
    virtual std::unique_ptr<ApiCaller> connect(const Configuration& configuration,
                                               System& system) = 0;
    // One request to the job's socket; its answer line.
    virtual Result<std::string> ask_job_socket(const std::string& path,
                                               const std::string& request) = 0;
    // In the foreground under a watchdog, until it is stopped.
    virtual ExitCode keep_running(Role role, const Configuration& configuration) = 0;
    // The process that a watchdog watches.
    virtual ExitCode run_child(Role role, const Configuration& configuration) = 0;
    virtual Result<OfflineReport> fsck_offline(const Config& config) = 0;
    // A sentence that says what was done.
    virtual Result<std::string> migrate(const Config& config, MissingLog log) = 0;
    virtual Result<OfflineBackup> backup_offline(const Config& config, const std::string& path,
                                                 const BackupProgress& progress) = 0;
    virtual Result<OfflineRestored> restore(const Config& config, const std::string& backup,
                                            RestoreWhat what) = 0;
    virtual Result<std::vector<OfflineCompacted>> compact(const Config& config,
                                                          const BackupProgress& progress) = 0;
    virtual ExitCode bench(const Configuration& configuration,
                           const std::vector<std::string>& words) = 0;
    virtual ExitCode drill(const std::vector<std::string>& words) = 0;
    virtual BuildFacts build() const = 0;
};

}  // namespace perdure::cli
