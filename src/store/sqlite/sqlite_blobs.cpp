#include "store/sqlite/sqlite_blobs.h"

#include <optional>
#include <type_traits>
#include <utility>

#include "platform/blocking_thread.h"
#include "store/sql/pieces.h"
#include "store/sqlite/db/open.h"

namespace perdure {
namespace {

using store::Failure;
using store::sql::Pieces;
using store::sqlite::Connection;
using store::sqlite::log_schema;
using store::sqlite::made;

}  // namespace

struct SqliteBlobs::Parts {
    explicit Parts(SqliteBlobsOptions o)
        : options(std::move(o)),
          connection(made(options.path, log_schema()), Connection::Access::write),
          thread(options.threads ? BlockingThread::Kind::thread : BlockingThread::Kind::inline_) {
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
    BlockingThread thread;
};

SqliteBlobs::SqliteBlobs(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SqliteBlobs::~SqliteBlobs() {
    parts_->thread.close();
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
    return parts_->thread.ask(std::move(work), std::move(afterwards));
}

void SqliteBlobs::between_calls(std::function<void()> call) {
    parts_->thread.post(std::move(call));
}

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
