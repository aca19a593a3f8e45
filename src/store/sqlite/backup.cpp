#include "store/sqlite/backup.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <list>
#include <optional>
#include <utility>

#include "core/storage/storage.h"
#include "store/sqlite/db/database_origin.h"
#include "store/sqlite/db/durable_file.h"
#include "store/sqlite/db/migrate.h"
#include "store/sqlite/db/open.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using namespace store;
using namespace store::sqlite;

constexpr int pages_at_once = 512;
constexpr std::uint64_t page_bytes = 4096;
constexpr const char* file_names[] = {"/perdure.db", "/logs.db"};

std::uint64_t free_at(const std::string& path) {
    std::error_code failed;
    const auto space = fs::space(path, failed);
    return failed ? UINT64_MAX : space.available;
}

// One database at one moment.
class Source {
public:
    explicit Source(const std::string& path) : connection_(path, Connection::Access::read) {
        prepare_reader(connection_);
    }
    // From now on it sees what is committed now.
    void begin() {
        snapshot_.emplace(connection_, Transaction::Kind::read);
        pages_ = static_cast<std::uint64_t>(connection_.number("PRAGMA page_count"));
        connection_.number("SELECT count(*) FROM sqlite_schema");
    }
    std::uint64_t bytes() const { return pages_ * page_bytes; }
    Connection& connection() { return connection_; }

private:
    Connection connection_;
    std::optional<Transaction> snapshot_;
    std::uint64_t pages_ = 0;
};

class Copying {
public:
    explicit Copying(const BackupOrder& order) : order_(order), partial_(order.path + ".partial") {}
    ~Copying() {
        if (std::error_code ignored; !is_complete_) fs::remove_all(partial_, ignored);
    }

    BackupMade make() {
        make_folder();
        for (const auto* name : file_names) sources_.emplace_back(order_.data + name);
        begin_all();
        BackupMade made{.taken_on = order_.now};
        for (auto& source : sources_) total_ += source.bytes();
        made.jobs = static_cast<std::uint64_t>(
            sources_.front().connection().number("SELECT count(*) FROM job"));
        refresh_role();
        auto name = std::begin(file_names);
        for (auto& source : sources_) copy(source, partial_ + *name++);
        sources_.clear();
        made.bytes = total_;
        rename_durably(partial_, order_.path);
        is_complete_ = true;
        return made;
    }

private:
    void make_folder() {
        std::error_code ignored;
        fs::remove_all(partial_, ignored);  // of one that was killed
        if (::mkdir(partial_.c_str(), S_IRWXU) != 0)
            throw Failure{error(Errc::unavailable,
                                fmt::format("cannot make {}: {}", partial_, std::strerror(errno)))};
    }

    void begin_all() {
        std::optional<Failure> failed;
        order_.at_rest([&] {
            try {
                for (auto& source : sources_) source.begin();
            } catch (const Failure& failure) {
                failed = failure;
            }
        });
        if (failed) throw *failed;
    }

    void refresh_role() const {
        const BackupFacts facts{
            .log_bytes =
                size_of(order_.data + "/perdure.db-wal") + size_of(order_.data + "/logs.db-wal"),
            .bytes_left = total_ - done_,
            .free_at_copy = free_at(partial_),
            .free_at_data = free_at(order_.data),
            .is_stopping = order_.stop && order_.stop->load(),
        };
        const auto decision = decide_backup(facts);
        if (decision.kind == BackupDecision::Kind::give_up)
            throw Failure{error(Errc::unavailable, "no backup: " + std::string(decision.why))};
        order_.progress(done_, total_);
    }

    void copy(Source& source, const std::string& to) {
        {
            Connection into(to, Connection::Access::create);
            ::chmod(to.c_str(), S_IRUSR | S_IWUSR);
            into.run("PRAGMA synchronous = OFF");
            into.run("PRAGMA journal_mode = OFF");
            copy_pages(source, into);
            into.run("PRAGMA journal_mode = DELETE");
            put_mark(into, FileMark::closed);
            put_origin(into, Origin{Origin::Kind::backup, order_.now, order_.data});
        }
        if (!sync_path(to))
            throw Failure{error(Errc::unavailable,
                                fmt::format("cannot sync {}: {}", to, std::strerror(errno)))};
    }

    void copy_pages(Source& source, Connection& into) {
        auto& from = source.connection();
        const auto before = done_;
        auto* copying = sqlite3_backup_init(into.handle(), "main", from.handle(), "main");
        if (!copying) into.fail(sqlite3_errcode(into.handle()), "begin a backup");
        const std::unique_ptr<sqlite3_backup, int (*)(sqlite3_backup*)> end(copying,
                                                                            sqlite3_backup_finish);
        for (;;) {
            const int code = sqlite3_backup_step(copying, pages_at_once);
            if (code == SQLITE_DONE) break;
            if (code != SQLITE_OK) into.fail(code, "write a backup");
            const auto left = static_cast<std::uint64_t>(sqlite3_backup_remaining(copying));
            done_ = before + source.bytes() - left * page_bytes;
            refresh_role();
        }
        done_ = before + source.bytes();
    }

    const BackupOrder& order_;
    std::string partial_;
    std::list<Source> sources_;
    std::uint64_t total_ = 0;
    std::uint64_t done_ = 0;
    bool is_complete_ = false;
};

Result<void> check_path(const std::string& path) {
    if (!path.starts_with('/') || path.ends_with('/'))
        return error(Errc::invalid, "the path of a backup must be absolute, and not end in `/`");
    if (std::error_code failed; fs::exists(fs::symlink_status(path, failed)))
        return error(Errc::conflict, path + " exists: choose another name, or remove it");
    return {};
}

}  // namespace

Result<BackupMade> make_backup(const BackupOrder& order) {
    if (auto good = check_path(order.path); !good) return good.error();
    try {
        return Copying(order).make();
    } catch (const Failure& failure) {
        return failure.error;
    }
}

Result<BackupMade> backup_offline(const DataDirectory& directory, BackupOrder order) {
    order.data = directory.path();
    try {
        // Whoever opens it to read cannot bring in what a killed server has left in the log.
        for (const auto& [path, schema] : {std::pair(directory.database(), store_schema()),
                                           std::pair(directory.logs(), log_schema())}) {
            Connection connection(made(path, schema), Connection::Access::write);
            prepare_writer(connection, schema, Durability::at_commit);
            close_whole(connection);
        }
    } catch (const Failure& failure) {
        return failure.error;
    }
    return make_backup(order);
}

SqliteBackupService::SqliteBackupService(std::string data, SqliteStore& store, SqliteBlobs& blobs,
                                         std::function<WallTime()> now)
    : data_(std::move(data)), store_(store), blobs_(blobs), now_(std::move(now)) {}

SqliteBackupService::~SqliteBackupService() {
    stop_ = true;
    thread_.join();
}

Result<void> SqliteBackupService::start(std::string path) {
    if (auto good = check_path(path); !good) return good;
    const std::lock_guard lock(mutex_);
    if (status_.is_running())
        return error(Errc::conflict, "a backup to " + status_.path + " is under way: wait for it");
    status_ = {.path = path};
    boost::asio::post(thread_, [this, path = std::move(path)] { run(path); });
    return {};
}

BackupStatus SqliteBackupService::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

void SqliteBackupService::run(const std::string& path) {
    BackupOrder order{.data = data_, .path = path, .now = now_()};
    order.progress = [this](std::uint64_t bytes, std::uint64_t total) {
        const std::lock_guard lock(mutex_);
        status_.bytes = bytes;
        status_.bytes_total = total;
    };
    order.at_rest = [this](const std::function<void()>& call) { at_rest(call); };
    order.stop = &stop_;
    auto outcome = make_backup(order);
    const std::lock_guard lock(mutex_);
    status_.outcome = std::move(outcome);
}

// The store's writer waits until that of the output is at rest as well, which never waits for it.
void SqliteBackupService::at_rest(const std::function<void()>& call) {
    std::promise<void> done;
    store_.between_groups([&] {
        std::promise<void> called;
        blobs_.between_calls([&] {
            call();
            called.set_value();
        });
        called.get_future().wait();
        done.set_value();
    });
    done.get_future().wait();
}

}  // namespace perdure
