#include "store/sqlite/restore.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "core/storage/storage.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/db/database_origin.h"
#include "store/sqlite/db/durable_file.h"
#include "store/sqlite/db/open.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using namespace store;
using namespace store::sqlite;

constexpr std::uint32_t jobs_at_once = 500;
constexpr ServerId restorer{1};

void check_file(const std::string& path, const Schema& schema) {
    if (!is_there(path))
        throw Failure{
            error(Errc::not_found, fmt::format("there is no backup in {}: {} is missing",
                                               fs::path(path).parent_path().string(), path))};
    Connection file(path, Connection::Access::file_alone);
    const int version = schema_version(file, schema);
    if (version == 0) throw without_schema(path);
    if (version > schema.migrations.back().number)
        throw Failure{
            error(Errc::conflict, fmt::format("{} has schema {} and this program knows "
                                              "only {}: use a newer program",
                                              path, version, schema.migrations.back().number))};
    const auto origin = origin_of(file);
    if (!origin || origin->kind != Origin::Kind::backup)
        throw Failure{
            error(Errc::conflict, path + " is no backup: make one with `perdure backup`")};
    if (const auto found = file.text("PRAGMA integrity_check"); found != "ok")
        throw Failure{error(Errc::corrupt,
                            fmt::format("{} is damaged: {}: use another backup", path, found))};
}

void check_empty(const std::string& path) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(path, absent))
        throw Failure{
            error(Errc::conflict, fmt::format("{} is not empty ({}): restore into a new directory",
                                              path, entry.path().filename().string()))};
}

// Its name is `.partial` until it is complete: a directory that is half restored has no database.
void bring(const std::string& from, const std::string& to, const std::optional<Origin>& origin) {
    const auto partial = to + ".partial";
    std::error_code failed;
    fs::copy_file(from, partial, fs::copy_options::overwrite_existing, failed);
    if (!failed) fs::permissions(partial, fs::perms::owner_read | fs::perms::owner_write, failed);
    if (failed)
        throw Failure{error(Errc::unavailable, fmt::format("cannot write {}: {}: free some space, "
                                                           "or choose another directory",
                                                           partial, failed.message()))};
    {
        Connection file(partial, Connection::Access::write);
        put_origin(file, origin);
    }
    rename_durably(partial, to);
}

// The store's own rules are applied to what was restored, one bounded group after the other.
class TakeOver {
public:
    TakeOver(const std::string& database, const Timing& timing) : store_(open(database, timing)) {
        const auto opened = wait(store_->open_server(restorer, WallTime{1}));
        group_ = {.server = restorer, .number = opened.last_group, .fence = opened.fence};
    }

    void run(Restored& restored) {
        std::set<std::pair<std::string, std::string>> paused;
        for (AuditPlace after;;) {
            const auto view = wait(store_->audit(after, jobs_at_once));
            std::vector<Change> changes;
            for (const auto& job : view.jobs) {
                switch (decide_after_restore({job.spec->effects, job.state})) {
                    case AfterRestore::leave: break;
                    case AfterRestore::hold:
                        changes.emplace_back(Hold{job.id});
                        ++restored.held;
                        break;
                    case AfterRestore::pause_queue:
                        if (!paused.emplace(job.spec->tenant, job.spec->queue).second) break;
                        changes.emplace_back(PauseQueue{job.spec->tenant, job.spec->queue});
                        restored.paused_queues.push_back(job.spec->queue);
                        break;
                }
            }
            if (!changes.empty()) commit(std::move(changes));
            if (!view.next) return;
            after = *view.next;
        }
    }

private:
    static std::unique_ptr<SqliteStore> open(const std::string& database, const Timing& timing) {
        auto store = SqliteStore::open({.path = database, .threads = false}, timing);
        if (!store) throw Failure{store.error()};
        return std::move(*store);
    }

    void commit(std::vector<Change> changes) {
        ++group_.number;
        group_.changes = std::move(changes);
        for (const auto& reply : wait(store_->commit(group_)).replies)
            if (!reply) throw Failure{reply.error()};
    }

    // Without threads: it has ended when the loop has nothing left to do.
    template <class T>
    T wait(Task<Result<T>> task) {
        std::optional<Result<T>> result;
        boost::asio::co_spawn(loop_, keep(std::move(task), result), boost::asio::detached);
        loop_.restart();
        loop_.run();
        if (!result) throw Failure{error(Errc::unavailable, "the store has not answered")};
        if (!*result) throw Failure{result->error()};
        return std::move(**result);
    }
    template <class T>
    static Task<void> keep(Task<Result<T>> task, std::optional<Result<T>>& result) {
        result = co_await std::move(task);
    }

    boost::asio::io_context loop_;
    std::unique_ptr<SqliteStore> store_;
    Group group_;
};

Restored restore_checked(const RestoreOrder& order, const Timing& timing) {
    const auto from = order.backup + "/perdure.db";
    check_file(from, store_schema());
    check_file(order.backup + "/logs.db", log_schema());
    check_empty(order.data);
    auto directory = DataDirectory::open(order.data);
    if (!directory) throw Failure{directory.error()};

    Restored restored;
    std::optional<Origin> origin;
    {
        Connection file(from, Connection::Access::file_alone);
        const auto number = [&](const char* sql) {
            return static_cast<std::uint64_t>(file.number(sql));
        };
        restored.jobs = number("SELECT count(*) FROM job");
        restored.not_ended = restored.jobs - number("SELECT count(*) FROM outcome");
        origin = origin_of(file);
    }
    restored.taken_on = origin->taken_on;
    restored.directory = origin->directory;
    origin->kind = Origin::Kind::copy;
    bring(order.backup + "/logs.db", directory->logs(), origin);
    // Marked as a copy until everything is held that must be: a crash here leaves a copy.
    bring(from, directory->database(), origin);
    if (order.as == RestoreAs::copy) return restored;
    TakeOver(directory->database(), timing).run(restored);
    for (const auto& path : {directory->logs(), directory->database()}) {
        Connection file(path, Connection::Access::write);
        put_origin(file, std::nullopt);
        file.empty_log();
    }
    return restored;
}

}  // namespace

Result<Restored> restore(const RestoreOrder& order, const Timing& timing) {
    try {
        return restore_checked(order, timing);
    } catch (const Failure& failure) {
        return failure.error;
    }
}

}  // namespace perdure
