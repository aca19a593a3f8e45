#include "store/sqlite/sqlite_store.h"

#include <atomic>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "platform/blocking_thread.h"
#include "store/engine/apply/apply.h"
#include "store/engine/state/state.h"
#include "store/sql/commit.h"
#include "store/sqlite/damage/discard.h"
#include "store/sqlite/damage/scan.h"
#include "store/sqlite/db/database_origin.h"
#include "store/sqlite/db/idle_file.h"
#include "store/sqlite/db/log_sync.h"
#include "store/sqlite/db/open.h"
#include "store/sqlite/tables/sqlite_tables.h"

namespace perdure {
namespace {

using store::Failure;
using store::State;
using store::sql::Reads;
using store::sqlite::Connection;
using store::sqlite::Durability;
using store::sqlite::LogSync;
using store::sqlite::made;
using store::sqlite::store_schema;

// As many as keep the writer busy for as long as a fast disk syncs.
constexpr std::size_t usual_pipeline_min_jobs = 200;
constexpr std::int64_t rows_worth_handing_over = 2 * usual_pipeline_min_jobs;

}  // namespace

// Everything that a thread of the store uses. The writer's and the reader's halves share nothing,
// unless the store works inline.
struct SqliteStore::Parts {
    Parts(SqliteOptions o, const Timing& t)
        : options(std::move(o)),
          timing(t),
          book(options.damaged),
          connection(made(options.path, store_schema()), Connection::Access::write),
          write_thread(thread_kind()) {
        if (options.counts_steps) connection.count_steps();
        store::sqlite::prepare_writer(connection, store_schema(), durability());
        copy_of = store::sqlite::copied_from(connection);
        // A database that lives as long as its process keeps nothing anywhere.
        if (options.threads) notes.emplace(options.path + store::sqlite::idle_file_suffix);
        if (notes) connection.use_notes(&*notes);
        load_state();
        state->await_heartbeats();
        if (durability() == Durability::after_commit)
            log_sync.emplace(connection.log_file(), [this](const Error& why) { end(why); });
        facts.emplace(Reads::Options{.threads = options.threads}, connection_to_read(), connection,
                      timing, book, [this](auto answer) { end_read(std::move(answer)); });
        people.emplace(Reads::Options{.threads = options.threads,
                                      .boot = options.boot,
                                      .patience = options.people_patience,
                                      .reads_max = options.people_reads_max,
                                      .before = options.before_people_read},
                       connection_to_read(), connection, timing, book,
                       [this](auto answer) { end_read(std::move(answer)); });
        auto* own = static_cast<Connection*>(people->own());
        damage.emplace(own ? *own : connection, book);
    }

    // Inline, all is read from the one that writes.
    std::unique_ptr<Connection> connection_to_read() {
        if (!options.threads) return nullptr;
        auto own = std::make_unique<Connection>(options.path, Connection::Access::read);
        store::sqlite::prepare_reader(*own);
        if (notes) own->use_notes(&*notes);
        return own;
    }

    void load_state() {
        tables.emplace(connection, book);
        if (!options.threads) tables->forbid_late_loads();
        state.emplace(*tables, timing, options.weights, book);
        state->unheard = unheard;
    }

    void drop_state() {
        if (state) unheard = std::move(state->unheard);
        state.reset();
        tables.reset();
    }

    BlockingThread::Kind thread_kind() const {
        return options.threads ? BlockingThread::Kind::thread : BlockingThread::Kind::inline_;
    }

    Durability durability() const {
        if (!options.durable) return Durability::none;
        return options.threads ? Durability::after_commit : Durability::at_commit;
    }

    // The store's door: what was thrown inside becomes an Error here.
    template <class Call>
    std::invoke_result_t<Call&, State&> write(Call& call) {
        if (broken) return stopped();
        try {
            if (!state) load_state();
            return call(*state);
        } catch (const Failure& failure) {
            connection.roll_back();
            drop_state();
            if (!failure.fatal) return failure.error;
            end(failure.error);
            // Nobody knows whether it is in the log.
            return error(Errc::outcome_unknown, failure.error.what);
        }
    }

    Result<GroupReply> commit(const Group& group) {
        return store::sql::commit_around_damage(
            group, book, [this](auto& call) { return write(call); }, [this] { drop_state(); });
    }

    // Whatever the writer knew is read anew afterwards.
    Result<void> discard(const DiscardDamaged& what) {
        auto remove = [&](State& s) -> Result<void> {
            store::write_unwritten(s);
            drop_state();
            return store::sqlite::discard(connection, timing, book, what);
        };
        return write(remove);
    }

    template <class Call>
    auto carry_out(Call& call) {
        if (log_sync) log_sync->begin_write();
        rows_before = connection.rows_changed();
        return call(*this);
    }

    // What stays in memory has nothing to sync; it is held back until all that it saw is durable.
    Result<GroupReply> take(const Group& group) {
        is_unwritten = !broken && state && store::check_idleness(*state, group).stays_unwritten;
        if (is_unwritten) return commit(group);
        auto written = [&](Parts& parts) { return parts.commit(group); };
        return carry_out(written);
    }

    void end_group(std::unique_ptr<Answer> answer) {
        return is_unwritten ? end_read(std::move(answer)) : end_write(std::move(answer));
    }

    void end_write(std::unique_ptr<Answer> answer) {
        if (log_sync) {
            log_sync->end_write(std::move(answer), where_to_sync());
        } else {
            answer->give();
        }
        move_log();
    }

    // Nothing is sent behind a small group before it is answered: handing the sync over to another
    // thread would only take time.
    LogSync::Where where_to_sync() const {
        const bool is_large = connection.rows_changed() - rows_before >= rows_worth_handing_over;
        return is_large ? LogSync::Where::on_its_thread : LogSync::Where::here;
    }

    void end_read(std::unique_ptr<Answer> answer) {
        if (log_sync) return log_sync->end_read(std::move(answer));
        answer->give();
    }

    void move_log() {
        if (broken || connection.log_pages() < store::sqlite::log_pages_max) return;
        try {
            connection.checkpoint();
        } catch (const Failure& failure) {
            if (failure.fatal) end(failure.error);
        }
    }

    // Nobody else is at it any more: all of it goes into the file. What fails here is done by the
    // next one who opens it.
    void close() {
        drop_state();
        if (broken) return;
        log_sync.reset();
        damage.reset();
        people.reset();
        facts.reset();
        try {
            store::sqlite::close_whole(connection);
        } catch (const Failure&) {
            // It stays marked as in use.
        }
    }

    void end(const Error& why) {
        const bool known = broken.exchange(true);
        if (!known && options.fatal) options.fatal(why);
    }

    static Error stopped() {
        return error(Errc::unavailable, "the store has stopped after an error of the disk");
    }

    SqliteOptions options;
    Timing timing;
    store::DamageBook book;
    Connection connection;
    std::optional<store::sqlite::IdleFile> notes;
    std::optional<store::sqlite::SqliteTables> tables;
    std::optional<State> state;
    std::set<SessionId> unheard;  // while there is no state
    std::optional<std::string> copy_of;
    bool is_unwritten = false;  // the group that was carried out last
    std::atomic<bool> broken = false;
    std::optional<LogSync> log_sync;
    std::int64_t rows_before = 0;
    BlockingThread write_thread;
    std::optional<Reads> facts;
    std::optional<Reads> people;
    std::optional<store::sqlite::DamageScan> damage;  // on people's connection and thread
};

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SqliteStore::~SqliteStore() {
    parts_->people->close();
    parts_->facts->close();
    parts_->write_thread.close();
    auto last = [](State& state) -> Result<void> {
        store::write_unwritten(state);
        return {};
    };
    if (parts_->state) std::ignore = parts_->write(last);
    parts_->close();
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options,
                                                       const Timing& timing) {
    try {
        auto parts = std::make_unique<Parts>(std::move(options), timing);
        return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
    } catch (const Failure& failure) {
        return failure.error;
    }
}

template <class Call>
auto SqliteStore::write_with(Call call) {
    auto work = [parts = parts_.get(), call = std::move(call)]() mutable {
        return parts->carry_out(call);
    };
    auto afterwards = [parts = parts_.get()](auto answer) { parts->end_write(std::move(answer)); };
    return parts_->write_thread.ask(std::move(work), std::move(afterwards));
}

template <class Call>
auto SqliteStore::write(Call call) {
    return write_with([call = std::move(call)](Parts& parts) mutable { return parts.write(call); });
}

Reads& SqliteStore::facts() { return *parts_->facts; }
Reads& SqliteStore::people() { return *parts_->people; }

Task<Result<ServerOpened>> SqliteStore::open_server(ServerId server, WallTime wall) {
    return write([=](State& state) { return store::open_server(state, server, wall); });
}

Task<Result<GroupReply>> SqliteStore::commit(Group group) {
    auto work = [parts = parts_.get(), group = std::move(group)] { return parts->take(group); };
    auto afterwards = [parts = parts_.get()](auto answer) { parts->end_group(std::move(answer)); };
    return parts_->write_thread.ask(std::move(work), std::move(afterwards));
}

// Without threads: nobody else is at it.
void SqliteStore::crash() {
    parts_->drop_state();
    parts_->load_state();
    parts_->state->await_heartbeats();
}

std::uint64_t SqliteStore::steps() const { return parts_->connection.steps(); }

void SqliteStore::between_groups(std::function<void()> call) {
    parts_->write_thread.post(std::move(call));
}

const std::optional<std::string>& SqliteStore::copy_of() const { return parts_->copy_of; }

std::size_t SqliteStore::pipeline_min_jobs() const { return usual_pipeline_min_jobs; }

Task<Result<LastGroup>> SqliteStore::resolve_unknown(ServerId server, std::uint64_t fence) {
    return write([=](State& state) { return store::resolve_unknown(state, server, fence); });
}

Task<Result<DamagePage>> SqliteStore::damaged(std::string from) {
    auto call = [parts = parts_.get(), from = std::move(from)](auto&) -> Result<DamagePage> {
        return parts->damage->page(from);
    };
    return people().ask({}, std::move(call));
}

Task<Result<void>> SqliteStore::discard(DiscardDamaged what) {
    return write_with([what = std::move(what)](Parts& parts) { return parts.discard(what); });
}

std::map<std::string, std::uint64_t> SqliteStore::damage_counts() const {
    return parts_->book.counts();
}

}  // namespace perdure
