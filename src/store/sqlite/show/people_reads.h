// PeopleReads: what people look at, on a thread and a connection of its own, so that nothing that
// workers and sweeps wait for stands behind it (C8). Bounded: so many reads wait at a time, and
// each is given up when it has taken too long, its time in line included.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "platform/desk.h"
#include "store/engine/people_views.h"
#include "store/sqlite/damage/scan.h"
#include "store/sqlite/db/open.h"
#include "store/sqlite/show/catalogue.h"
#include "store/sqlite/show/ledger.h"
#include "store/sqlite/show/show.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure::store::sqlite {

// All that one connection shows.
struct Reader {
    Reader(Connection& connection, const Timing& timing, DamageBook& book)
        : show(connection, timing, book),
          catalogue(connection, timing, book),
          ledger(connection, book),
          damage(connection, book),
          connection_(connection) {}
    // Empty: there is no such job.
    std::optional<JobShown> job(const JobQuery& query) {
        Transaction snapshot(connection_, Transaction::Kind::read);
        auto view = show.job(query.job, query.attempts);
        if (!view) return std::nullopt;
        auto workers = workers_of(*view, [&](SessionId id) { return catalogue.worker_of(id); });
        return JobShown{.job = std::move(*view), .workers = std::move(workers)};
    }

    Show show;
    ShowCatalogue catalogue;
    ShowLedger ledger;
    DamageScan damage;

private:
    Connection& connection_;
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

class PeopleReads {
public:
    // Without threads it reads from the connection that is given, without bounds of time.
    // `afterwards` gives each answer.
    PeopleReads(const SqliteOptions& options, Connection& shared, const Timing& timing,
                DamageBook& book, std::function<void(std::unique_ptr<Answer>)> afterwards)
        : afterwards_(std::move(afterwards)),
          boot_(options.boot),
          patience_(options.people_patience),
          before_(options.before_people_read),
          desk_(options.threads ? Desk::Kind::thread : Desk::Kind::inline_,
                options.people_reads_max) {
        if (options.threads) own_.emplace(options.path, Connection::Access::read);
        if (own_) prepare_reader(*own_);
        if (own_) own_->use_notes(shared.notes());
        reader_.emplace(own_ ? *own_ : shared, timing, book);
    }

    // What `call(Reader&)` returns. overloaded: too many wait, it took too long, or whoever asked
    // has gone.
    template <class Call>
    auto ask(ReadTerms terms, Call call) {
        ReadIsOver is_over = [terms = std::move(terms)] { return terms.is_given_up(); };
        if (boot_)
            is_over = [this, until = boot_() + patience_, is_gone = std::move(is_over)] {
                return is_gone() || boot_() >= until;
            };
        auto work = [this, is_over = std::move(is_over), call = std::move(call)]() mutable {
            return make(is_over, call);
        };
        return desk_.ask(std::move(work), [this](auto answer) { afterwards_(std::move(answer)); });
    }
    // Waits for the reads that were asked for.
    void close() { desk_.close(); }

private:
    // Made to wait for too long, it is not even begun.
    template <class Call>
    std::invoke_result_t<Call&, Reader&> make(const ReadIsOver& is_over, Call& call) {
        if (before_) before_();
        if (!own_) return read_from(*reader_, call);
        if (is_over())
            return error(Errc::overloaded,
                         "this read has waited too long behind others: ask again in a second");
        own_->end_reads_when(is_over);
        auto answer = read_from(*reader_, call);
        own_->end_reads_when({});
        return answer;
    }

    std::function<void(std::unique_ptr<Answer>)> afterwards_;
    std::function<BootTime()> boot_;
    Duration patience_;
    std::function<void()> before_;
    std::optional<Connection> own_;
    std::optional<Reader> reader_;
    Desk desk_;
};

}  // namespace perdure::store::sqlite
