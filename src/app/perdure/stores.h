// Stores: where a server keeps its jobs and their output: two files in its data directory, or a
// schema of a PostgreSQL.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "config/config.h"
#include "ports/backup.h"
#include "ports/blobs.h"
#include "ports/catalogue.h"
#include "ports/damage.h"
#include "ports/store.h"

namespace perdure {

struct Stores {
    std::unique_ptr<Store> store;
    std::unique_ptr<Blobs> blobs;
    std::unique_ptr<BackupService> backups;  // none: the database has its own ways
    Catalogue* catalogue = nullptr;          // of the store
    DamageService* damage = nullptr;         // of the store
    std::optional<std::string> copy_of;      // a backup that may only be looked at

    // Nothing runs that could ask them. Everything is on disk afterwards.
    void close();
};

// `fatal`: this life cannot go on; called on any thread.
Result<Stores> open_stores(const Config& config, const std::string& data, const Log& log,
                           std::function<void(const Error&)> fatal);

}  // namespace perdure
