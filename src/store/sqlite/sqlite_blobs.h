// SqliteBlobs: what jobs print, in the file `logs.db` beside the store's own, so that a job that
// prints a lot does not slow down commits. One thread and one connection of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/blobs.h"

namespace perdure {

struct SqliteBlobsOptions {
    std::string path = ":memory:";
    bool threads = true;                           // false: every call is made where it is asked
    std::function<void(const Error&)> fatal = {};  // the disk failed; called on the thread
};

class SqliteBlobs : public Blobs {
public:
    // Errors as those of SqliteStore::open().
    static Result<std::unique_ptr<SqliteBlobs>> open(SqliteBlobsOptions options);
    ~SqliteBlobs() override;
    SqliteBlobs(const SqliteBlobs&) = delete;
    SqliteBlobs& operator=(const SqliteBlobs&) = delete;

    Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk> chunks) override;
    Task<Result<void>> cut(std::vector<LogCut> cuts) override;
    Task<Result<LogPiece>> read(AttemptKey attempt, std::uint64_t offset, std::size_t max) override;
    Task<Result<OutputRemoved>> remove(std::vector<JobId> jobs) override;

    // Calls it on the thread that writes, between two calls. It must not throw.
    void between_calls(std::function<void()> call);

private:
    struct Parts;
    explicit SqliteBlobs(std::unique_ptr<Parts> parts);
    template <class Call>
    auto ask(Call call);

    std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
