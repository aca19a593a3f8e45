// SqliteStore: the embedded store. One file `perdure.db` with a write-ahead log that is synced at
// every commit; one connection that writes and moves the log into the file, one that reads what
// workers and sweeps wait for, and one that reads what people look at. The engine on SqliteTables:
// passes the contract of every store [P12].
// An I/O error or a failed sync ends it: `fatal` is called, and nothing is acknowledged any more;
// the next process begins from the log. A full disk refuses and passes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "ports/damage.h"
#include "ports/store.h"
#include "store/sql/reading_store.h"

namespace perdure {

struct SqliteOptions {
    std::string path = ":memory:";  // such a database is for inline use alone
    bool threads = true;            // false: every call is made where it is asked, for simulations
    bool durable = true;            // false: no sync, for simulations
    QueueWeights weights = {};
    // The host's clock, asked by any thread of the store. Empty: no read is ever given up.
    std::function<BootTime()> boot = {};
    // What people read is given up after so long, the time in line included (C8). With threads
    // only.
    Duration people_patience = seconds(5);
    std::size_t people_reads_max = 1'000;  // that wait or are made; whoever comes then is refused
    // For tests: called by the thread of people's reads before each of them.
    std::function<void()> before_people_read = {};
    bool counts_steps = false;  // for tests: see steps()
    // Both are called on a thread of the store. `damaged`: once for each row that is met.
    std::function<void(const Error&)> fatal = {};
    std::function<void(const Damaged&)> damaged = {};
};

class SqliteStore : public store::sql::ReadingStore, public DamageService, public EmbeddedStore {
public:
    // Opens or makes the database. Whoever calls has locked its directory (data_directory.h).
    // corrupt: a file of something else, or one that is damaged. conflict: a newer schema.
    // unavailable: it cannot be opened or written.
    static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options, const Timing& timing);
    ~SqliteStore() override;
    SqliteStore(const SqliteStore&) = delete;
    SqliteStore& operator=(const SqliteStore&) = delete;

    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override;
    Task<Result<GroupReply>> commit(Group group) override;
    std::size_t pipeline_min_jobs() const override;
    Task<Result<LastGroup>> resolve_unknown(ServerId server, std::uint64_t fence) override;

    Task<Result<DamagePage>> damaged(std::string from) override;
    Task<Result<void>> discard(DiscardDamaged what) override;
    std::map<std::string, std::uint64_t> damage_counts() const override;

    void crash() override;

    // Calls it on the writer's thread, while no group is being committed. It must not throw.
    void between_groups(std::function<void()> call);
    // If it was restored to be looked at: which backup it is of. Nothing may be committed then.
    const std::optional<std::string>& copy_of() const;

    // What all statements have done so far, whatever the machine. To be asked without threads.
    std::uint64_t steps() const;

private:
    struct Parts;
    explicit SqliteStore(std::unique_ptr<Parts> parts);

    template <class Call>
    auto write(Call call);
    template <class Call>
    auto write_with(Call call);
    store::sql::Reads& facts() override;
    store::sql::Reads& people() override;

    std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
