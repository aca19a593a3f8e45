#include "sim/world/sim_blobs.h"

#include <algorithm>
#include <set>

#include "base/probe.h"

namespace perdure::sim {

Result<std::vector<std::uint64_t>> KeptOutput::append(const std::vector<LogChunk>& chunks) {
    std::map<AttemptKey, std::uint64_t> ends;
    for (const auto& chunk : chunks) {
        auto& end = ends.try_emplace(chunk.attempt, texts_[chunk.attempt].size()).first->second;
        if (chunk.offset > end) return error(Errc::conflict, "an earlier piece is missing");
        end = std::max(end, chunk.offset + chunk.bytes.size());
    }
    std::vector<std::uint64_t> ends_before;
    for (const auto& chunk : chunks) {
        auto& text = texts_[chunk.attempt];
        ends_before.push_back(text.size());
        const auto known = text.size() - chunk.offset;
        if (known >= chunk.bytes.size()) {
            reached<"output_piece_was_there_already">();
            continue;
        }
        if (on_append) on_append(chunk);
        text += chunk.bytes.substr(known);
    }
    return ends_before;
}

void KeptOutput::cut(const std::vector<LogCut>& cuts) {
    for (const auto& [attempt, end] : cuts) {
        auto& text = texts_[attempt];
        if (end < text.size()) text.resize(end);
    }
}

void KeptOutput::remove(const std::vector<JobId>& jobs) {
    const std::set<JobId> gone(jobs.begin(), jobs.end());
    std::erase_if(texts_, [&](const auto& entry) { return gone.contains(entry.first.job); });
}

// The way there takes time, and leads nowhere while the database is down.
Task<Result<void>> SimBlobs::reach() {
    co_await database_.world().sleep(server_, database_.delay());
    if (database_.is_down() || database_.draws(Fault::abort_group))
        co_return error(Errc::unavailable, "the output cannot be kept now");
    co_return Result<void>{};
}

Task<Result<std::vector<std::uint64_t>>> SimBlobs::append(std::vector<LogChunk> chunks) {
    auto there = co_await reach();
    if (!there) co_return there.error();
    auto kept = kept_.append(chunks);
    co_await database_.world().sleep(server_, database_.delay());
    co_return kept;
}

Task<Result<void>> SimBlobs::cut(std::vector<LogCut> cuts) {
    auto there = co_await reach();
    if (!there) co_return there.error();
    kept_.cut(cuts);
    co_return Result<void>{};
}

Task<Result<LogPiece>> SimBlobs::read(AttemptKey attempt, std::uint64_t offset, std::size_t max) {
    auto there = co_await reach();
    if (!there) co_return there.error();
    const auto& text = kept_.of(attempt);
    LogPiece piece{.bytes = {}, .end = text.size()};
    if (offset < text.size()) piece.bytes = text.substr(offset, max);
    co_return piece;
}

Task<Result<OutputRemoved>> SimBlobs::remove(std::vector<JobId> jobs) {
    auto there = co_await reach();
    if (!there) co_return there.error();
    kept_.remove(jobs);
    co_return OutputRemoved{};
}

}  // namespace perdure::sim
