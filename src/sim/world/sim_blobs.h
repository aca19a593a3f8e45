// SimBlobs: a server's connection to what jobs have printed: one shared store of texts that
// survives everything, reached with delays, refused while the database is down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ports/blobs.h"
#include "sim/world/sim_store.h"

namespace perdure::sim {

// What the servers keep of what attempts print.
class KeptOutput {
public:
    // Shown each piece right before it is kept.
    std::function<void(const LogChunk&)> on_append;

    Result<std::vector<std::uint64_t>> append(const std::vector<LogChunk>& chunks);
    void cut(const std::vector<LogCut>& cuts);
    const std::map<AttemptKey, std::string>& texts() const { return texts_; }
    const std::string& of(AttemptKey attempt) { return texts_[attempt]; }
    void remove(const std::vector<JobId>& jobs);

private:
    std::map<AttemptKey, std::string> texts_;
};

class SimBlobs final : public Blobs {
public:
    SimBlobs(SimDatabase& database, KeptOutput& kept, Life server)
        : database_(database), kept_(kept), server_(server) {}

    Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk> chunks) override;
    Task<Result<void>> cut(std::vector<LogCut> cuts) override;
    Task<Result<LogPiece>> read(AttemptKey attempt, std::uint64_t offset, std::size_t max) override;
    Task<Result<OutputRemoved>> remove(std::vector<JobId> jobs) override;

private:
    Task<Result<void>> reach();

    SimDatabase& database_;
    KeptOutput& kept_;
    Life server_;
};

}  // namespace perdure::sim
