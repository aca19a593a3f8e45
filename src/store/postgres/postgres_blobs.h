// PostgresBlobs: the output of attempts in the schema of the cell, on a connection of its own.
#pragma once

#include <memory>

#include "ports/blobs.h"
#include "store/postgres/postgres_store.h"

namespace perdure {

class PostgresBlobs : public Blobs {
public:
    // After the store, which makes the tables.
    explicit PostgresBlobs(const PostgresOptions& options);
    ~PostgresBlobs() override;

    Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk> chunks) override;
    Task<Result<void>> cut(std::vector<LogCut> cuts) override;
    Task<Result<LogPiece>> read(AttemptKey attempt, std::uint64_t offset, std::size_t max) override;
    Task<Result<OutputRemoved>> remove(std::vector<JobId> jobs) override;

private:
    struct Parts;
    template <class Call>
    auto ask(Call call);

    std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
