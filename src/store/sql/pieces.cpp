#include "store/sql/pieces.h"

#include <algorithm>
#include <string_view>

namespace perdure::store::sql {
namespace {

// Of up to 64 KiB each, by one transaction.
constexpr std::uint32_t pieces_removed_max = 500;
constexpr int pieces_read_max = 16;  // by one statement

}  // namespace

Pieces::Pieces(Database& c)
    : database_(c),
      last_(c,
            "SELECT start, length(bytes) FROM piece WHERE job = ? AND epoch = ?"
            " ORDER BY start DESC LIMIT 1"),
      insert_(c, "INSERT INTO piece (job, epoch, start, bytes) VALUES (?, ?, ?, ?)"),
      // From the piece that has the offset on.
      from_(c,
            "SELECT start, bytes FROM piece WHERE job = ?1 AND epoch = ?2 AND start >="
            " coalesce((SELECT max(start) FROM piece WHERE job = ?1 AND epoch = ?2"
            " AND start <= ?3), 0) ORDER BY start LIMIT ?4"),
      cut_(c, "DELETE FROM piece WHERE job = ? AND epoch = ? AND start >= ?"),
      next_job_(c, "SELECT job FROM piece WHERE job >= ? ORDER BY job LIMIT 1"),
      remove_(c,
              "DELETE FROM piece WHERE job = ?1 AND (epoch, start) IN (SELECT epoch, start"
              " FROM piece WHERE job = ?1 ORDER BY epoch, start LIMIT ?2)"),
      owe_(c, "INSERT INTO owed (job) VALUES (?) ON CONFLICT DO NOTHING"),
      pay_(c, "DELETE FROM owed WHERE job = ?"),
      owed_(c, "SELECT job FROM owed ORDER BY job LIMIT 1") {}

Result<std::vector<std::uint64_t>> Pieces::append(const std::vector<LogChunk>& chunks) {
    std::vector<std::uint64_t> ends_before;
    Transaction transaction(database_, Transaction::Kind::write);
    for (const auto& chunk : chunks) {
        const auto end = end_of(chunk.attempt);
        if (chunk.offset > end)
            return error(Errc::conflict, "something printed before this has not come");
        ends_before.push_back(end);
        const auto known = static_cast<std::size_t>(end - chunk.offset);
        if (known >= chunk.bytes.size()) continue;
        const auto fresh = std::string_view(chunk.bytes).substr(known);
        insert_.run_one({chunk.attempt.job, chunk.attempt.epoch.value, end, Value::blob(fresh)});
    }
    transaction.commit();
    return ends_before;
}

// A piece begins where the text ended before it: none lies across such a mark.
Result<void> Pieces::cut(const std::vector<LogCut>& cuts) {
    Transaction transaction(database_, Transaction::Kind::write);
    for (const auto& [attempt, end] : cuts) cut_.run({attempt.job, attempt.epoch.value, end});
    transaction.commit();
    return {};
}

// False: there is no more.
bool Pieces::read_some(AttemptKey attempt, std::uint64_t offset, std::size_t max, LogPiece& piece) {
    const auto from = offset + piece.bytes.size();
    auto row = from_.query({attempt.job, attempt.epoch.value, from, pieces_read_max});
    int rows = 0;
    for (; piece.bytes.size() < max && row.next(); ++rows) {
        const auto at = offset + piece.bytes.size();
        const auto start = row.counter(0);
        const auto bytes = row.bytes(1);
        if (start > at || start + bytes.size() <= at) fail_corrupt("output has a gap");
        piece.bytes += bytes.substr(static_cast<std::size_t>(at - start), max - piece.bytes.size());
    }
    return rows == pieces_read_max && offset + piece.bytes.size() < piece.end;
}

Result<LogPiece> Pieces::read(AttemptKey attempt, std::uint64_t offset, std::size_t max) {
    Transaction snapshot(database_, Transaction::Kind::read);
    LogPiece piece{.end = end_of(attempt)};
    if (offset >= piece.end) return piece;
    while (piece.bytes.size() < max && read_some(attempt, offset, max, piece)) {
    }
    return piece;
}

// Most jobs have printed nothing: it goes from one that has to the next.
Result<OutputRemoved> Pieces::remove(std::vector<JobId> jobs) {
    std::sort(jobs.begin(), jobs.end());
    Transaction transaction(database_, Transaction::Kind::write);
    auto left = pieces_removed_max;
    for (auto job = next_owed(); job && left > 0; job = next_owed())
        if (remove(*job, left)) pay_.run({*job});
    for (auto at = jobs.begin(); at != jobs.end();) {
        const auto printed = next_job(*at);
        if (!printed) break;
        at = std::lower_bound(at, jobs.end(), *printed);
        if (at == jobs.end() || *at != *printed) continue;
        if (!remove(*at, left)) owe_.run({*at});
        ++at;
    }
    const bool unfinished = next_owed().has_value();
    transaction.commit();
    return OutputRemoved{.unfinished = unfinished};
}

std::optional<JobId> Pieces::next_owed() {
    auto row = owed_.query({});
    if (!row.next()) return std::nullopt;
    return JobId{row.bits(0)};
}

bool Pieces::remove(JobId job, std::uint32_t& left) {
    if (left == 0) return false;
    const auto removed = static_cast<std::uint32_t>(remove_.run({job, left}));
    left -= removed;
    return left > 0;
}

std::uint64_t Pieces::end_of(AttemptKey attempt) {
    auto row = last_.query({attempt.job, attempt.epoch.value});
    return row.next() ? row.counter(0) + row.counter(1) : 0;
}

std::optional<JobId> Pieces::next_job(JobId from) {
    auto row = next_job_.query({from});
    if (!row.next()) return std::nullopt;
    return JobId{row.bits(0)};
}

}  // namespace perdure::store::sql
