#include "store/sqlite/compact.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>

#include "store/sqlite/db/durable_file.h"
#include "store/sqlite/db/migrate.h"
#include "store/sqlite/db/open.h"
#include "store/sqlite/db/statement.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using namespace store;
using namespace store::sqlite;

constexpr std::uint64_t leaves_free = std::uint64_t{64} << 20;
constexpr int steps_between_sizes = 200'000;

std::uint64_t bytes_in_use(Connection& database) {
    const auto pages =
        database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count");
    return static_cast<std::uint64_t>(pages * database.number("PRAGMA page_size"));
}

void check_room(const std::string& path, std::uint64_t wanted) {
    std::error_code failed;
    const auto space = fs::space(fs::path(path).parent_path(), failed);
    if (failed || space.available >= wanted + leaves_free) return;
    throw Failure{error(Errc::unavailable,
                        fmt::format("the copy of {} needs {} MiB, and {} MiB are free: free some "
                                    "space; nothing was changed",
                                    path, (wanted + leaves_free) >> 20, space.available >> 20))};
}

// How many rows each table has.
std::string contents_of(Connection& database) {
    std::string contents;
    Statement tables(database,
                     "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE"
                     " 'sqlite_%' ORDER BY name");
    for (auto row = tables.query({}); row.next();) {
        const auto count = "SELECT count(*) FROM \"" + row.text(0) + "\"";
        contents += fmt::format("{} {}\n", row.text(0), database.number(count.c_str()));
    }
    return contents;
}

void check_copy(const std::string& path, const std::string& contents) {
    Connection copy(path, Connection::Access::file_alone);
    if (copy.text("PRAGMA quick_check(1)") == "ok" && contents_of(copy) == contents) return;
    throw Failure{error(Errc::corrupt,
                        fmt::format("the copy {} does not have what the original has: that stays "
                                    "as it is; look for errors of the disk, and try perdure fsck "
                                    "--offline",
                                    path))};
}

class Compacting {
public:
    Compacting(std::string path, const Schema& schema)
        : path_(std::move(path)), copy_(path_ + ".compact"), schema_(schema) {}
    ~Compacting() { remove_database(copy_); }

    CompactedFile make(const CompactProgress& progress) {
        remove_database(copy_);  // of one that was killed
        const auto before = size_of(path_) + size_of(path_ + "-wal");
        const auto contents = copy(progress);
        check_copy(copy_, contents);
        // A log would be taken for the copy's.
        if (size_of(path_ + "-wal") > 0)
            throw Failure{error(Errc::conflict, path_ + "-wal has something in it: another program "
                                                        "has the database open")};
        remove_log();
        rename_durably(copy_, path_);
        return {fs::path(path_).filename(), before, size_of(path_)};
    }

private:
    // All of it, the log of a killed server included; marked as closed.
    std::string copy(const CompactProgress& progress) {
        Connection database(made(path_, schema_), Connection::Access::write);
        prepare_writer(database, schema_, Durability::at_commit);
        close_whole(database);
        const auto wanted = bytes_in_use(database);
        check_room(path_, wanted);
        progress_ = [&, wanted] { progress(size_of(copy_), wanted); };
        sqlite3_progress_handler(database.handle(), steps_between_sizes, &Compacting::look, this);
        Statement vacuum(database, "VACUUM INTO ?");
        vacuum.run({copy_});
        sqlite3_progress_handler(database.handle(), 0, nullptr, nullptr);
        ::chmod(copy_.c_str(), S_IRUSR | S_IWUSR);
        progress(wanted, wanted);
        return contents_of(database);
    }
    static int look(void* self) {
        static_cast<Compacting*>(self)->progress_();
        return 0;
    }
    void remove_log() const {
        for (const auto* more : {"-wal", "-shm"}) {
            std::error_code ignored;
            fs::remove(path_ + more, ignored);
        }
    }

    std::string path_;
    std::string copy_;
    const Schema& schema_;
    std::function<void()> progress_;
};

}  // namespace

Result<std::vector<CompactedFile>> compact_offline(const DataDirectory& directory,
                                                   const CompactProgress& progress) {
    try {
        const auto& store = store_schema();
        const auto& logs = log_schema();
        std::vector<CompactedFile> files;
        files.push_back(Compacting(directory.logs(), logs).make(progress));
        files.push_back(Compacting(directory.database(), store).make(progress));
        return files;
    } catch (const Failure& failure) {
        return failure.error;
    }
}

}  // namespace perdure
