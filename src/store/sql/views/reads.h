// Reads: what is read from the rows of one connection, on a thread of its own. Those of people may
// be bounded: so many wait at a time, and each is given up when it has taken too long, its time in
// line included (C8).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "platform/blocking_thread.h"
#include "ports/catalogue.h"
#include "store/engine/people_views.h"
#include "store/sql/views/catalogue_views.h"
#include "store/sql/views/ledger_views.h"
#include "store/sql/views/table_views.h"

namespace perdure::store::sql {

// All that one connection shows.
struct Reader {
    Reader(Database& database, const Timing& timing, DamageBook& book)
        : views(database, timing, book),
          catalogue(database, timing, book),
          ledger(database, book),
          database_(database) {}
    // Empty: there is no such job.
    std::optional<JobShown> job(const JobQuery& query) {
        Transaction snapshot(database_, Transaction::Kind::read);
        auto view = views.job(query.job, query.attempts);
        if (!view) return std::nullopt;
        auto workers = workers_of(*view, [&](SessionId id) { return catalogue.worker_of(id); });
        return JobShown{.job = std::move(*view), .workers = std::move(workers)};
    }

    TableViews views;
    CatalogueViews catalogue;
    LedgerViews ledger;

private:
    Database& database_;
};

// The door: what was thrown inside becomes an Error here.
template <class Call>
std::invoke_result_t<Call&, Reader&> read_from(Reader& reader, Call& call) {
    try {
        return call(reader);
    } catch (const Failure& failure) {
        return failure.error;
    }
}

class Reads {
public:
    struct Options {
        bool threads = true;
        std::function<BootTime()> boot = {};  // empty: no read is ever given up
        Duration patience = {};
        std::size_t reads_max = BlockingThread::unbounded;  // that wait or are made
        std::function<void()> before = {};                  // for tests: before each of them
    };

    // Without a connection of its own it reads from the one that is shared, without bounds of time.
    // `afterwards` gives each answer.
    Reads(Options options, std::unique_ptr<Database> own, Database& shared, const Timing& timing,
          DamageBook& book, std::function<void(std::unique_ptr<Answer>)> afterwards)
        : options_(std::move(options)),
          afterwards_(std::move(afterwards)),
          own_(std::move(own)),
          reader_(own_ ? *own_ : shared, timing, book),
          thread_(options_.threads ? BlockingThread::Kind::thread : BlockingThread::Kind::inline_,
                  options_.reads_max) {}

    Database* own() { return own_.get(); }
    // What `call(Reader&)` returns. overloaded: too many wait, it took too long, or whoever asked
    // has gone.
    template <class Call>
    auto ask(ReadTerms terms, Call call) {
        ReadIsOver is_over;
        if (options_.boot)
            is_over = [this, until = options_.boot() + options_.patience,
                       terms = std::move(terms)] {
                return terms.is_given_up() || options_.boot() >= until;
            };
        auto work = [this, is_over = std::move(is_over), call = std::move(call)]() mutable {
            return make(is_over, call);
        };
        return thread_.ask(std::move(work),
                           [this](auto answer) { afterwards_(std::move(answer)); });
    }
    // Waits for the reads that were asked for.
    void close() { thread_.close(); }

private:
    // Made to wait for too long, it is not even begun.
    template <class Call>
    std::invoke_result_t<Call&, Reader&> make(const ReadIsOver& is_over, Call& call) {
        if (options_.before) options_.before();
        if (!own_ || !is_over) return read_from(reader_, call);
        if (is_over())
            return error(Errc::overloaded,
                         "this read has waited too long behind others: ask again in a second");
        own_->end_reads_when(is_over);
        auto answer = read_from(reader_, call);
        own_->end_reads_when({});
        return answer;
    }

    Options options_;
    std::function<void(std::unique_ptr<Answer>)> afterwards_;
    std::unique_ptr<Database> own_;
    Reader reader_;
    BlockingThread thread_;
};

}  // namespace perdure::store::sql
