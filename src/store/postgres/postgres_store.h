// PostgresStore: the store of a cell, one schema in one PostgreSQL. The engine on PostgresTables:
// passes the contract of every store [P12]. One connection writes, one reads what workers and
// sweeps wait for, and one reads what people look at. A connection that was lost is made anew by
// whoever needs it next; until then the answer is `unavailable`, and nothing ends because of it.
// Only one permit ends the store: another server has taken the cell (`fatal`).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "ports/damage.h"
#include "store/sql/reading_store.h"

namespace perdure {

struct PostgresOptions {
    // As libpq takes it. A password belongs into a file (PGPASSFILE), never here.
    std::string uri;
    std::string schema = "perdure";
    std::string holder = "server";  // as people are told who keeps the cell
    bool threads = true;            // false: every call is made where it is asked, for tests
    bool durable = true;            // false: it may lose what it has accepted, for tests
    bool pooled = false;            // behind a pooler that deals out transactions
    // The cell is taken although somebody keeps it: whatever that one still writes fails.
    bool take_over = false;
    // Storage that keeps whole pages whatever the server says of full_page_writes.
    bool trust_storage = false;
    // So often a group may load something before it leaves the rest to the next one (C8).
    std::uint32_t loads_max = 64;
    QueueWeights weights = {};
    // The host's clock, asked by any thread of the store. Empty: no read is ever given up.
    std::function<BootTime()> boot = {};
    Duration people_patience = seconds(5);
    std::size_t people_reads_max = 1'000;
    // On a thread of the store. `fatal`: the cell is another server's.
    std::function<void(const Error&)> fatal = {};
    std::function<void(const std::string&)> warn = {};
    std::function<void(const Damaged&)> damaged = {};
};

namespace store::postgres {
struct Target;
}
// How the program calls itself there: `what` and the holder's name.
store::postgres::Target target_of(const PostgresOptions& options, const char* what);

class PostgresStore : public store::sql::ReadingStore, public DamageService {
public:
    // Connects, brings the schema up to date and takes the cell.
    // unavailable: the database cannot be reached. conflict: another server keeps the cell, or the
    // schema is too new. invalid: the database would not keep what it has promised.
    static Result<std::unique_ptr<PostgresStore>> open(PostgresOptions options,
                                                       const Timing& timing);
    ~PostgresStore() override;
    PostgresStore(const PostgresStore&) = delete;
    PostgresStore& operator=(const PostgresStore&) = delete;

    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override;
    Task<Result<GroupReply>> commit(Group group) override;
    std::size_t pipeline_min_jobs() const override;
    Task<Result<LastGroup>> resolve_unknown(ServerId server, std::uint64_t fence) override;

    // What could not be understood so far. Nothing is looked for, and nothing is removed here.
    Task<Result<DamagePage>> damaged(std::string from) override;
    Task<Result<void>> discard(DiscardDamaged what) override;
    std::map<std::string, std::uint64_t> damage_counts() const override;

    // For tests: of the one that writes, as the database knows it.
    std::int64_t writing_backend() const;

private:
    struct Parts;
    explicit PostgresStore(std::unique_ptr<Parts> parts);

    template <class Call>
    auto write(Call call);
    store::sql::Reads& facts() override;
    store::sql::Reads& people() override;

    std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
