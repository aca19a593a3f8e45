// SmallWriter: writes what lies beside jobs and places: holders, relations, the ledger, keys,
// sessions, counts, debts.
#pragma once

#include <vector>

#include "store/engine/write_set.h"
#include "store/postgres/db/many.h"

namespace perdure::store::postgres {

class SmallWriter {
public:
    SmallWriter();

    void write_rows_of_jobs(Connection& connection, const WriteSet& set);
    void forget_relations(Connection& connection, const std::vector<ForgottenJob>& jobs);
    void remove(Connection& connection, const std::vector<LeftoverPiece>& pieces);
    // All but servers and service time, which are in the group's own row.
    void write_others(Connection& connection, const WriteSet& set);

private:
    void write(Connection& connection, const std::vector<LargeChange>& changes);
    void write(Connection& connection, const std::vector<HolderChange>& changes);
    void write(Connection& connection, const std::vector<RelationChange>& changes);
    void add(const NewAwaited& row);
    void add(const NewAdded& added);
    void add(const NewMade& made);
    void notify(Connection& connection, const NotifiedWaiters& notified);
    void send_relations(Connection& connection);
    void write_ledger(Connection& connection, const WriteSet& set);
    void write_keys(Connection& connection, const WriteSet& set);
    void write_debts(Connection& connection, const WriteSet& set);
    void write_sessions(Connection& connection, const WriteSet& set);
    void add(const SessionRow& session);

    Many put_large_, drop_large_;
    Many take_key_, take_limit_, free_key_, free_limit_, free_odd_;
    Many awaited_, added_, made_, ledger_, drop_key_, put_key_;
    Many gone_awaited_, gone_added_, gone_made_;
    Many owe_end_, pay_end_, owe_removal_, pay_removal_, owe_permit_, pay_permit_;
    Many shape_, tally_, pause_, limit_, session_, directory_, gone_session_, gone_directory_;
    Text notify_, unremoved_;
};

}  // namespace perdure::store::postgres
