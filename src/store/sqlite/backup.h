// Backup: both databases as they were at one moment, in a folder that `restore` opens.
//   The snapshots of both are begun while nobody writes either; from then on everybody goes on.
//   The folder has another name until it is complete and on the disk.
// It reads with connections of its own, which never move a log into its file: only the writer does
// (SQLite 3.40.1 may otherwise lose commits).
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ports/backup.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/sqlite_blobs.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {

struct BackupOrder {
    std::string data;  // the directory
    std::string path;  // of the folder to be made
    WallTime now;
    std::function<void(std::uint64_t bytes, std::uint64_t total)> progress = [](auto, auto) {};
    // Calls it while neither database is written.
    std::function<void(const std::function<void()>&)> at_rest = [](const auto& call) { call(); };
    const std::atomic<bool>* stop = nullptr;
};

// On the caller's thread.
Result<BackupMade> make_backup(const BackupOrder& order);

// Of a directory that nobody else has open.
Result<BackupMade> backup_offline(const DataDirectory& directory, BackupOrder order);

// Of a server's databases, on a thread of its own.
class SqliteBackupService final : public BackupService {
public:
    SqliteBackupService(std::string data, SqliteStore& store, SqliteBlobs& blobs,
                        std::function<WallTime()> now);
    // Gives up what is under way; leaves nothing of it.
    ~SqliteBackupService() override;

    Result<void> start(std::string path) override;
    BackupStatus status() const override;

private:
    void run(const std::string& path);
    void at_rest(const std::function<void()>& call);

    std::string data_;
    SqliteStore& store_;
    SqliteBlobs& blobs_;
    std::function<WallTime()> now_;
    std::atomic<bool> stop_ = false;
    mutable std::mutex mutex_;
    BackupStatus status_;
    boost::asio::thread_pool thread_{1};
};

}  // namespace perdure
