#include "store/postgres/postgres_store.h"

#include <atomic>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "platform/blocking_thread.h"
#include "store/engine/apply/apply.h"
#include "store/engine/state/state.h"
#include "store/postgres/db/checks.h"
#include "store/postgres/db/embedded.h"
#include "store/postgres/db/keeper.h"
#include "store/postgres/tables/postgres_tables.h"
#include "store/sql/commit.h"

namespace perdure {
namespace {

using store::Failure;
using store::State;
using store::postgres::Connection;
using store::sql::Reads;

// As many as keep the writer busy while the database syncs.
constexpr std::size_t usual_pipeline_min_jobs = 200;

}  // namespace

store::postgres::Target target_of(const PostgresOptions& options, const char* what) {
    return {.uri = options.uri,
            .schema = options.schema,
            .name = std::string("perdure ") + what + " " + options.holder,
            .pooled = options.pooled};
}

struct PostgresStore::Parts {
    Parts(PostgresOptions o, const Timing& t)
        : options(std::move(o)),
          timing(t),
          book(options.damaged),
          keeper(options.holder),
          connection(target_of(options, "keeper"), [this](Connection& made) { greet(made); }),
          write_thread(thread_kind()) {
        load_state();
        state->await_heartbeats();
        const auto give = [](auto answer) { answer->give(); };
        facts.emplace(Reads::Options{.threads = options.threads}, connection_to_read(), connection,
                      timing, book, give);
        people.emplace(Reads::Options{.threads = options.threads,
                                      .boot = options.boot,
                                      .patience = options.people_patience,
                                      .reads_max = options.people_reads_max},
                       connection_to_read(), connection, timing, book, give);
    }

    // Whoever connects to write, now or after the connection was lost, takes the cell.
    void greet(Connection& made) {
        store::postgres::check_server(made, {.durable = options.durable,
                                             .trusts_storage = options.trust_storage,
                                             .warn = is_up_to_date ? nullptr : options.warn});
        if (!is_up_to_date) store::postgres::migrate(made, store::postgres::migrations());
        is_up_to_date = true;
        keeper.take(made, options.take_over);
    }

    // Inline, all is read from the one that writes.
    std::unique_ptr<Connection> connection_to_read() const {
        if (!options.threads) return nullptr;
        return std::make_unique<Connection>(target_of(options, "reader of"));
    }

    BlockingThread::Kind thread_kind() const {
        return options.threads ? BlockingThread::Kind::thread : BlockingThread::Kind::inline_;
    }

    void load_state() {
        tables.emplace(connection, keeper, book, options.loads_max);
        state.emplace(*tables, timing, options.weights, book);
        state->unheard = unheard;
    }

    void drop_state() {
        if (state) unheard = std::move(state->unheard);
        state.reset();
        tables.reset();
    }

    // The store's door: what was thrown inside becomes an Error here.
    template <class Call>
    std::invoke_result_t<Call&, State&> write(Call& call) {
        if (broken) return error(Errc::unavailable, "the cell is another server's now");
        try {
            if (!state) load_state();
            return call(*state);
        } catch (const Failure& failure) {
            const bool is_unknown = connection.is_commit_unknown();
            connection.roll_back();
            drop_state();
            if (failure.error.code == Errc::fenced) end(failure.error);
            if (is_unknown) return error(Errc::outcome_unknown, failure.error.what);
            return failure.error;
        }
    }

    Result<GroupReply> commit(const Group& group) {
        return store::sql::commit_around_damage(
            group, book, [this](auto& call) { return write(call); }, [this] { drop_state(); });
    }

    void end(const Error& why) {
        const bool known = broken.exchange(true);
        if (!known && options.fatal) options.fatal(why);
    }

    PostgresOptions options;
    Timing timing;
    store::DamageBook book;
    store::postgres::Keeper keeper;
    Connection connection;
    bool is_up_to_date = false;
    std::optional<store::postgres::PostgresTables> tables;
    std::optional<State> state;
    std::set<SessionId> unheard;  // while there is no state
    std::atomic<bool> broken = false;
    BlockingThread write_thread;
    std::optional<Reads> facts;
    std::optional<Reads> people;
};

PostgresStore::PostgresStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

PostgresStore::~PostgresStore() {
    parts_->people->close();
    parts_->facts->close();
    parts_->write_thread.close();
    auto last = [](State& state) -> Result<void> {
        store::write_unwritten(state);
        return {};
    };
    if (parts_->state) std::ignore = parts_->write(last);
}

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(PostgresOptions options,
                                                           const Timing& timing) {
    try {
        auto parts = std::make_unique<Parts>(std::move(options), timing);
        return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(parts)));
    } catch (const Failure& failure) {
        return failure.error;
    }
}

template <class Call>
auto PostgresStore::write(Call call) {
    auto work = [parts = parts_.get(), call = std::move(call)]() mutable {
        return parts->write(call);
    };
    return parts_->write_thread.ask(std::move(work), [](auto answer) { answer->give(); });
}

Reads& PostgresStore::facts() { return *parts_->facts; }
Reads& PostgresStore::people() { return *parts_->people; }

Task<Result<ServerOpened>> PostgresStore::open_server(ServerId server, WallTime wall) {
    return write([=](State& state) { return store::open_server(state, server, wall); });
}

Task<Result<GroupReply>> PostgresStore::commit(Group group) {
    auto work = [parts = parts_.get(), group = std::move(group)] { return parts->commit(group); };
    return parts_->write_thread.ask(std::move(work), [](auto answer) { answer->give(); });
}

std::size_t PostgresStore::pipeline_min_jobs() const { return usual_pipeline_min_jobs; }

Task<Result<LastGroup>> PostgresStore::resolve_unknown(ServerId server, std::uint64_t fence) {
    return write([=](State& state) { return store::resolve_unknown(state, server, fence); });
}

std::map<std::string, std::uint64_t> PostgresStore::damage_counts() const {
    return parts_->book.counts();
}

Task<Result<DamagePage>> PostgresStore::damaged(std::string) {
    co_return DamagePage{.rows = parts_->book.rows(), .next = {}};
}

Task<Result<void>> PostgresStore::discard(DiscardDamaged) {
    co_return error(Errc::invalid,
                    "on PostgreSQL damaged rows are not removed by a command yet: remove them with "
                    "SQL while no server runs, then start it and look with `perdure fsck`");
}

std::int64_t PostgresStore::writing_backend() const { return parts_->keeper.backend(); }

}  // namespace perdure
