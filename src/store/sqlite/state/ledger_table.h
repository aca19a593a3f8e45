// LedgerTable: writes the entries of `recovery`; they go with their job.
#pragma once

#include "core/ledger.h"
#include "store/sqlite/db/statement.h"

namespace perdure::sqlite {

class LedgerTable {
public:
    explicit LedgerTable(Connection& connection);

    void insert(const Recovery& entry);
    void forget(JobId job);

private:
    Statement insert_, forget_;
};

}  // namespace perdure::sqlite
