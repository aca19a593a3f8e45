#include "store/postgres/db/keeper.h"

#include <fmt/format.h>
#include <poll.h>

namespace perdure::store::postgres {
namespace {

// Its backend, as nobody else can be: numbers are used again.
constexpr const char* is_there =
    "SELECT pid FROM pg_stat_activity WHERE pid = ? AND backend_start::text = ?";
constexpr int looks_max = 30;
constexpr int poll_interval_ms = 100;

}  // namespace

Keeper::Cell Keeper::read(Connection& connection) {
    sql::Statement cell(connection,
                        "SELECT epoch, holder, backend, backend_start FROM cell WHERE id = 1");
    auto row = cell.query({});
    if (!row.next()) fail_corrupt("the row of `cell` is missing: restore a backup");
    return {row.number(0), row.text(1), row.number(2), row.text(3)};
}

void Keeper::take_over(Connection& connection, std::int64_t from) {
    sql::Statement own(connection,
                       "SELECT pid::bigint, backend_start::text FROM pg_stat_activity"
                       " WHERE pid = pg_backend_pid()");
    std::int64_t backend = 0;
    std::string backend_start;
    if (auto row = own.query({}); row.next()) {
        backend = row.number(0);
        backend_start = row.text(1);
    }
    sql::Transaction transaction(connection, sql::Transaction::Kind::write);
    sql::Statement set(connection,
                       "UPDATE cell SET epoch = epoch + 1, holder = ?, backend = ?,"
                       " backend_start = ? WHERE id = 1 AND epoch = ?");
    if (set.run({holder_, backend, backend_start, from}) != 1)
        throw Failure{error(Errc::fenced, "another server has taken this cell")};
    sql::Statement note(connection,
                        "INSERT INTO epoch (epoch, first_group, holder) SELECT ?, max(number) + 1,"
                        " ? FROM grp");
    note.run({from + 1, holder_});
    transaction.commit();
    epoch_ = from + 1;
    backend_ = backend;
    backend_start_ = backend_start;
    // Read only now: what was under way before is decided (C1).
    sql::Statement last(connection, "SELECT max(number) FROM grp");
    auto row = last.query({});
    if (!row.next()) fail_corrupt("the rows of `grp` are missing: restore a backup");
    last_group_ = row.number(0);
}

// A backend that is left over from a lost connection may hold the cell's row until somebody
// notices. One that waits for its standby is left alone: ending it would show what is not
// replicated.
void Keeper::end_own_backend(Connection& connection) {
    sql::Statement end(connection,
                       "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ? AND"
                       " backend_start::text = ? AND wait_event IS DISTINCT FROM 'SyncRep'");
    auto row = end.query({backend_, backend_start_});
    row.next();
}

// Of a server that was killed it goes within moments.
void Keeper::wait_for_holder(Connection& connection, const Cell& cell) {
    sql::Statement holder(connection, is_there);
    for (int looks = 0; looks < looks_max; ++looks) {
        if (looks > 0) ::poll(nullptr, 0, poll_interval_ms);
        if (!holder.query({cell.backend, cell.backend_start}).next()) return;
    }
    throw Failure{error(Errc::conflict,
                        fmt::format("server {} keeps this cell: stop it first, or give this one "
                                    "another schema; several servers on one cell are not "
                                    "supported yet",
                                    cell.holder))};
}

void Keeper::take(Connection& connection, bool by_force) {
    auto cell = read(connection);
    if (epoch_ == 0 && !by_force) {
        wait_for_holder(connection, cell);
        cell = read(connection);  // its last groups, and its last word
    } else if (epoch_ != 0 && cell.epoch != epoch_) {
        throw Failure{
            error(Errc::fenced, fmt::format("server {} has taken this cell", cell.holder))};
    }
    try {
        take_over(connection, cell.epoch);
    } catch (const Failure& failure) {
        if (epoch_ != 0 && failure.error.code == Errc::unavailable && connection.is_open()) {
            connection.roll_back();
            end_own_backend(connection);
        }
        throw;
    }
}

}  // namespace perdure::store::postgres
