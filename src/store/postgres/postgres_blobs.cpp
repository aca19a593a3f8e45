#include "store/postgres/postgres_blobs.h"

#include <type_traits>
#include <utility>

#include "platform/blocking_thread.h"
#include "store/postgres/db/connection.h"
#include "store/sql/pieces.h"

namespace perdure {

using store::sql::Pieces;

struct PostgresBlobs::Parts {
    explicit Parts(const PostgresOptions& options)
        : connection(target_of(options, "output of")),
          pieces(connection),
          thread(options.threads ? BlockingThread::Kind::thread : BlockingThread::Kind::inline_) {}

    // An append that may have been written is repeated by whoever sent it: what is there already is
    // left as it is.
    template <class Call>
    std::invoke_result_t<Call&, Pieces&> make(Call& call) {
        try {
            return call(pieces);
        } catch (const store::Failure& failure) {
            connection.roll_back();
            return failure.error;
        }
    }

    store::postgres::Connection connection;
    Pieces pieces;
    BlockingThread thread;
};

PostgresBlobs::PostgresBlobs(const PostgresOptions& options)
    : parts_(std::make_unique<Parts>(options)) {}
PostgresBlobs::~PostgresBlobs() { parts_->thread.close(); }

template <class Call>
auto PostgresBlobs::ask(Call call) {
    auto work = [parts = parts_.get(), call = std::move(call)]() mutable {
        return parts->make(call);
    };
    return parts_->thread.ask(std::move(work), [](auto answer) { answer->give(); });
}

Task<Result<std::vector<std::uint64_t>>> PostgresBlobs::append(std::vector<LogChunk> chunks) {
    return ask([chunks = std::move(chunks)](Pieces& pieces) { return pieces.append(chunks); });
}

Task<Result<void>> PostgresBlobs::cut(std::vector<LogCut> cuts) {
    return ask([cuts = std::move(cuts)](Pieces& pieces) { return pieces.cut(cuts); });
}

Task<Result<LogPiece>> PostgresBlobs::read(AttemptKey attempt, std::uint64_t offset,
                                           std::size_t max) {
    return ask([=](Pieces& pieces) { return pieces.read(attempt, offset, max); });
}

Task<Result<OutputRemoved>> PostgresBlobs::remove(std::vector<JobId> jobs) {
    return ask([jobs = std::move(jobs)](Pieces& pieces) mutable {
        return pieces.remove(std::move(jobs));
    });
}

}  // namespace perdure
