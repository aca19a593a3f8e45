// SmallTables: writes the rows that are no places of jobs: shapes and counts, keys and limits and
// who holds them, sessions, what jobs wait for, callbacks, the ledger, idempotency keys.
#pragma once

#include "store/engine/write_set.h"
#include "store/sqlite/damage/copies.h"
#include "store/sqlite/db/batch_insert.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

class SmallTables {
public:
    SmallTables(Connection& connection, DamageBook& book);

    Copies copies;

    // Rows of jobs; `at` is the one whose turn it is.
    void write_rows_of_jobs(const WriteSet& set, JobId& at);
    void write_others(const WriteSet& set);
    // What a job that is removed has waited for, and its callbacks.
    void forget_relations(const ForgottenJob& forgotten);
    std::vector<KeyName> old_keys(ServiceTime now, std::uint32_t max);

private:
    void write_debts(const WriteSet& set);
    void write(const HolderChange& change);
    void write(const NewAwaited& row);
    void write(const NotifiedWaiters& notified);
    void write(const NewAdded& added);
    void write(const NewMade& made);
    void write(const Recovery& entry);
    void write(const KeyName& name, const IdempotencyRow& row);
    void write(const SessionRow& session);

    Statement shape_;
    BatchInsert tally_;
    Statement pause_;
    Statement limit_, take_key_, take_limit_, release_key_, release_limit_, release_odd_;
    Statement await_, notify_, add_, made_, forget_awaited_, forget_added_, forget_made_;
    Statement ledger_;
    Statement save_session_, save_directory_, delete_session_, delete_directory_;
    Statement put_key_, drop_key_, old_keys_;
    Statement owe_end_, pay_end_, owe_permit_, pay_permit_, owe_removal_, pay_removal_;
};

}  // namespace perdure::store::sqlite
