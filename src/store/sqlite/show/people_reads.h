// PeopleReads: what people look at, on a thread and a connection of its own, so that nothing that
// workers and sweeps wait for stands behind it (C8). Bounded: so many reads wait at a time, and
// each is given up when it has taken too long, its time in line included.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "store/sqlite/damage/scan.h"
#include "store/sqlite/db/desk.h"
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
          damage(connection, book) {}
    Show show;
    ShowCatalogue catalogue;
    ShowLedger ledger;
    DamageScan damage;
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
    PeopleReads(const SqliteOptions& options, Connection& shared, const Timing& timing,
                DamageBook& book)
        : boot_(options.boot),
          patience_(options.people_patience),
          before_(options.before_people_read),
          desk_(options.threads ? Desk::Kind::thread : Desk::Kind::inline_,
                options.people_reads_max) {
        if (options.threads) own_.emplace(options.path, Connection::Access::read);
        if (own_) prepare_reader(*own_);
        reader_.emplace(own_ ? *own_ : shared, timing, book);
    }

    // What `call(Reader&)` returns. overloaded: too many wait, or it took too long.
    template <class Call, class Then>
    auto ask(Call call, Then afterwards) {
        ReadIsOver is_over;
        if (boot_) is_over = [this, until = boot_() + patience_] { return boot_() >= until; };
        auto work = [this, is_over = std::move(is_over), call = std::move(call)]() mutable {
            return make(is_over, call);
        };
        return desk_.ask(std::move(work), std::move(afterwards));
    }
    // Waits for the reads that were asked for.
    void close() { desk_.close(); }

private:
    // Made to wait for too long, it is not even begun.
    template <class Call>
    std::invoke_result_t<Call&, Reader&> make(const ReadIsOver& is_over, Call& call) {
        if (before_) before_();
        if (!own_) return read_from(*reader_, call);
        if (is_over && is_over())
            return error(Errc::overloaded,
                         "this read has waited too long behind others: ask again in a second");
        own_->end_reads_when(is_over);
        auto answer = read_from(*reader_, call);
        own_->end_reads_when({});
        return answer;
    }

    std::function<BootTime()> boot_;
    Duration patience_;
    std::function<void()> before_;
    std::optional<Connection> own_;
    std::optional<Reader> reader_;
    Desk desk_;
};

}  // namespace perdure::store::sqlite
