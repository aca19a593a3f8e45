#include "store/sqlite/sqlite_blobs.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "platform/desk.h"
#include "store/sqlite/db/open.h"
#include "store/sqlite/db/statement.h"

namespace perdure {
namespace {

using store::Failure;
using store::sqlite::Connection;
using store::sqlite::log_schema;
using store::sqlite::made;
using store::sqlite::Statement;
using store::sqlite::Transaction;
using store::sqlite::Value;

// Of up to 64 KiB each, by one transaction.
constexpr std::uint32_t pieces_removed_max = 500;

class Pieces {
public:
    explicit Pieces(Connection& c)
        : connection_(c),
          last_(c,
                "SELECT start, length(bytes) FROM piece WHERE job = ? AND epoch = ?"
                " ORDER BY start DESC LIMIT 1"),
          insert_(c, "INSERT INTO piece (job, epoch, start, bytes) VALUES (?, ?, ?, ?)"),
          // From the piece that has the offset on.
          from_(c,
                "SELECT start, bytes FROM piece WHERE job = ?1 AND epoch = ?2 AND start >="
                " coalesce((SELECT max(start) FROM piece WHERE job = ?1 AND epoch = ?2"
                " AND start <= ?3), 0) ORDER BY start"),
          cut_(c, "DELETE FROM piece WHERE job = ? AND epoch = ? AND start >= ?"),
          next_job_(c, "SELECT job FROM piece WHERE job >= ? ORDER BY job LIMIT 1"),
          remove_(c,
                  "DELETE FROM piece WHERE job = ?1 AND (epoch, start) IN (SELECT epoch, start"
                  " FROM piece WHERE job = ?1 ORDER BY epoch, start LIMIT ?2)"),
          owe_(c, "INSERT OR REPLACE INTO owed (job) VALUES (?)"),
          pay_(c, "DELETE FROM owed WHERE job = ?"),
          owed_(c, "SELECT job FROM owed ORDER BY job LIMIT 1") {}

    Result<std::vector<std::uint64_t>> append(const std::vector<LogChunk>& chunks) {
        std::vector<std::uint64_t> ends_before;
        Transaction transaction(connection_, Transaction::Kind::write);
        for (const auto& chunk : chunks) {
            const auto end = end_of(chunk.attempt);
            if (chunk.offset > end)
                return error(Errc::conflict, "something printed before this has not come");
            ends_before.push_back(end);
            const auto known = static_cast<std::size_t>(end - chunk.offset);
            if (known >= chunk.bytes.size()) continue;
            const auto fresh = std::string_view(chunk.bytes).substr(known);
            insert_.run_one(
                {chunk.attempt.job, chunk.attempt.epoch.value, end, Value::blob(fresh)});
        }
        transaction.commit();
        return ends_before;
    }

    // A piece begins where the text ended before it: none lies across such a mark.
    Result<void> cut(const std::vector<LogCut>& cuts) {
        Transaction transaction(connection_, Transaction::Kind::write);
        for (const auto& [attempt, end] : cuts) cut_.run({attempt.job, attempt.epoch.value, end});
        transaction.commit();
        return {};
    }

    Result<LogPiece> read(AttemptKey attempt, std::uint64_t offset, std::size_t max) {
        Transaction snapshot(connection_, Transaction::Kind::read);
        LogPiece piece{.end = end_of(attempt)};
        if (offset >= piece.end) return piece;
        auto row = from_.query({attempt.job, attempt.epoch.value, offset});
        while (piece.bytes.size() < max && row.next()) {
            const auto at = offset + piece.bytes.size();
            const auto start = row.counter(0);
            const auto bytes = row.bytes(1);
            if (start > at || start + bytes.size() <= at) store::fail_corrupt("output has a gap");
            piece.bytes +=
                bytes.substr(static_cast<std::size_t>(at - start), max - piece.bytes.size());
        }
        return piece;
    }

    // First what is owed, then these; those for which there is no room are owed. Most jobs have
    // printed nothing: it goes from one that has to the next.
    Result<OutputRemoved> remove(std::vector<JobId> jobs) {
        std::sort(jobs.begin(), jobs.end());
        Transaction transaction(connection_, Transaction::Kind::write);
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

private:
    std::optional<JobId> next_owed() {
        auto row = owed_.query({});
        if (!row.next()) return std::nullopt;
        return JobId{row.bits(0)};
    }

    // True: nothing of it is left.
    bool remove(JobId job, std::uint32_t& left) {
        if (left == 0) return false;
        const auto removed = static_cast<std::uint32_t>(remove_.run({job, left}));
        left -= removed;
        return left > 0;
    }

    std::uint64_t end_of(AttemptKey attempt) {
        auto row = last_.query({attempt.job, attempt.epoch.value});
        return row.next() ? row.counter(0) + row.counter(1) : 0;
    }

    // The first that has printed something, from this one on.
    std::optional<JobId> next_job(JobId from) {
        auto row = next_job_.query({from});
        if (!row.next()) return std::nullopt;
        return JobId{row.bits(0)};
    }

    Connection& connection_;
    Statement last_, insert_, from_, cut_, next_job_, remove_, owe_, pay_, owed_;
};

}  // namespace

struct SqliteBlobs::Parts {
    explicit Parts(SqliteBlobsOptions o)
        : options(std::move(o)),
          connection(made(options.path, log_schema()), Connection::Access::write),
          desk(options.threads ? Desk::Kind::thread : Desk::Kind::inline_) {
        store::sqlite::prepare_writer(connection, log_schema(),
                                      store::sqlite::Durability::at_commit);
        pieces.emplace(connection);
    }

    template <class Call>
    std::invoke_result_t<Call&, Pieces&> make(Call& call) {
        if (broken)
            return error(Errc::unavailable, "output is not kept after an error of the disk");
        try {
            return call(*pieces);
        } catch (const Failure& failure) {
            connection.roll_back();
            if (failure.fatal) end(failure.error);
            return failure.error;
        }
    }

    void move_log() {
        if (broken || connection.log_pages() < store::sqlite::log_pages_max) return;
        try {
            connection.checkpoint();
        } catch (const Failure& failure) {
            if (failure.fatal) end(failure.error);
        }
    }

    // As that of the store.
    void close() {
        pieces.reset();
        if (broken) return;
        try {
            store::sqlite::close_whole(connection);
        } catch (const Failure&) {
            // It stays marked as in use.
        }
    }

    void end(const Error& why) {
        broken = true;
        if (options.fatal) options.fatal(why);
    }

    SqliteBlobsOptions options;
    Connection connection;
    std::optional<Pieces> pieces;
    bool broken = false;
    Desk desk;
};

SqliteBlobs::SqliteBlobs(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SqliteBlobs::~SqliteBlobs() {
    parts_->desk.close();
    parts_->close();
}

Result<std::unique_ptr<SqliteBlobs>> SqliteBlobs::open(SqliteBlobsOptions options) {
    try {
        auto parts = std::make_unique<Parts>(std::move(options));
        return std::unique_ptr<SqliteBlobs>(new SqliteBlobs(std::move(parts)));
    } catch (const Failure& failure) {
        return failure.error;
    }
}

template <class Call>
auto SqliteBlobs::ask(Call call) {
    auto work = [parts = parts_.get(), call = std::move(call)]() mutable {
        return parts->make(call);
    };
    auto afterwards = [parts = parts_.get()](auto answer) {
        answer->give();
        parts->move_log();
    };
    return parts_->desk.ask(std::move(work), std::move(afterwards));
}

void SqliteBlobs::between_calls(std::function<void()> call) { parts_->desk.post(std::move(call)); }

Task<Result<std::vector<std::uint64_t>>> SqliteBlobs::append(std::vector<LogChunk> chunks) {
    return ask([chunks = std::move(chunks)](Pieces& pieces) { return pieces.append(chunks); });
}

Task<Result<void>> SqliteBlobs::cut(std::vector<LogCut> cuts) {
    return ask([cuts = std::move(cuts)](Pieces& pieces) { return pieces.cut(cuts); });
}

Task<Result<LogPiece>> SqliteBlobs::read(AttemptKey attempt, std::uint64_t offset,
                                         std::size_t max) {
    return ask([=](Pieces& pieces) { return pieces.read(attempt, offset, max); });
}

Task<Result<OutputRemoved>> SqliteBlobs::remove(std::vector<JobId> jobs) {
    return ask([jobs = std::move(jobs)](Pieces& pieces) mutable {
        return pieces.remove(std::move(jobs));
    });
}

}  // namespace perdure
