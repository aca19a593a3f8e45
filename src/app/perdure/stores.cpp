#include "app/perdure/stores.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "platform/system_time.h"
#include "store/postgres/postgres_blobs.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/sqlite_blobs.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {
namespace {

using Fatal = std::function<void(const Error&)>;

Error about(const std::string& file, const Error& why) {
    const bool is_named = why.what.starts_with(file);
    return is_named ? why : error(why.code, file + ": " + why.what);
}

auto log_damage(const Log& log) {
    return [log](const Damaged& row) {
        log.write(Level::error, "a stored row is damaged: it is left alone", "table", row.table,
                  "row", row.row, "why", row.why, "fix", "perdure fsck names what to do");
    };
}

// As people know this server: two on one host differ in their process.
std::string holder() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return std::string(name.data()) + "/" + std::to_string(::getpid());
}

Result<Stores> open_files(const Config& config, const std::string& data, const Log& log,
                          const Fatal& fatal) {
    auto store = SqliteStore::open({.path = data + "/perdure.db",
                                    .weights = config.weights,
                                    .boot = boot_now,
                                    .fatal = fatal,
                                    .damaged = log_damage(log)},
                                   config.timing);
    if (!store) return about(data + "/perdure.db", store.error());
    auto blobs = SqliteBlobs::open({.path = data + "/logs.db", .fatal = fatal});
    if (!blobs) return about(data + "/logs.db", blobs.error());
    Stores stores;
    stores.backups = std::make_unique<SqliteBackupService>(data, **store, **blobs, wall_now);
    stores.catalogue = store->get();
    stores.damage = store->get();
    stores.copy_of = (*store)->copy_of();
    stores.store = std::move(*store);
    stores.blobs = std::move(*blobs);
    return stores;
}

Result<Stores> open_database(const Config& config, const Log& log, const Fatal& fatal) {
    PostgresOptions options{.uri = config.store,
                            .schema = config.store_schema,
                            .holder = holder(),
                            .weights = config.weights,
                            .boot = boot_now,
                            .fatal = fatal,
                            .damaged = log_damage(log)};
    options.warn = [log](const std::string& what) {
        log.write(Level::warn, "the database is not set up as it should be", "what", what);
    };
    auto store = PostgresStore::open(options, config.timing);
    if (!store) return store.error();
    Stores stores;
    stores.blobs = std::make_unique<PostgresBlobs>(options);
    stores.catalogue = store->get();
    stores.damage = store->get();
    stores.store = std::move(*store);
    return stores;
}

}  // namespace

void Stores::close() {
    backups.reset();
    store.reset();
    blobs.reset();
}

Result<Stores> open_stores(const Config& config, const std::string& data, const Log& log,
                           Fatal fatal) {
    return config.is_on_postgres() ? open_database(config, log, fatal)
                                   : open_files(config, data, log, fatal);
}

}  // namespace perdure
