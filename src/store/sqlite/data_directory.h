// DataDirectory: the folder that holds `perdure.db` and `logs.db`, and the lock on it. Whoever
// opens one of those files holds this first: the server, `fsck --offline` and `migrate`. The lock
// ends with the process, however that ends, and is not passed on to programs that it starts.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "platform/trusted_path.h"

namespace perdure {

// Makes the folder, for its owner alone, and what is missing above it. Their names are durable when
// it returns: `sync` is called for each folder that has got a new one [P1].
using SyncFolder = std::function<bool(const std::string& path)>;
Result<void> make_data_directory(const std::string& path, const SyncFolder& sync);

class DataDirectory {
public:
    // Makes the folder if it is missing, for its owner alone. conflict: another process has it, and
    // did not let go for `patience`. unavailable: it cannot be made or written. forbidden: it, what
    // is above it or what is in it belongs to another account or can be written by one (A1).
    static Result<DataDirectory> open(const std::string& path, Duration patience = seconds(3));
    // The same for a folder that must be there. not_found: it is not, or has no database.
    static Result<DataDirectory> open_existing(const std::string& path,
                                               Duration patience = seconds(3));
    ~DataDirectory();
    DataDirectory(DataDirectory&& other) noexcept;
    DataDirectory& operator=(DataDirectory&&) = delete;

    // Without symbolic links.
    const std::string& path() const { return folder_.path; }
    std::string database() const { return path() + "/perdure.db"; }
    std::string logs() const { return path() + "/logs.db"; }
    // What others could read until now, a sentence each.
    const std::vector<std::string>& notes() const { return folder_.notes; }

private:
    DataDirectory(TrustedDirectory folder, int lock) : folder_(std::move(folder)), lock_(lock) {}

    TrustedDirectory folder_;
    int lock_ = -1;
};

}  // namespace perdure
